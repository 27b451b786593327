#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/reports/live_line.h"
#include "cli/sweep/sweep_command.h"
#include "core/error.h"

namespace hogbatch {

SweepCommandOptions SweepOf(const TrainOptions& options) {
  const char* const several = options.ensemble > 0 ? "ensemble" : "folds";
  const auto refuse = [&](bool given, const char* name) {
    if (!given) return;
    throw UserError(
        fmt::format("--{0}: it shows one network while it trains, and --{1} trains several; leave "
                    "out --{0} or --{1}",
                    name, several));
  };
  refuse(options.report, "report");
  refuse(!options.trace.empty(), "trace");
  refuse(options.tensorboard, "tensorboard");
  return {.training = SweptOptions::Of(options.spec),
          .search = {.ensemble = options.ensemble, .folds = options.folds},
          .out = options.out,
          .resume = options.resume,
          .checkpoint_every = options.checkpoint_every,
          .quiet = options.quiet,
          .json = options.json,
          .given = options.given};
}

int RunSweep(const SweepCommandOptions& options) {
  std::optional<SweepRecord> resumed;
  if (!options.resume.empty()) {
    if (!options.out.empty()) {
      throw UserError(
          "--out: a resumed sweep goes on in its own folder; leave out --out or --resume");
    }
    resumed = ReadSweep(options.resume);
  } else if (!options.out.empty()) {
    RefuseOtherSweep(options.out);
  }
  const bool is_silent = options.quiet || options.json;
  const bool is_live = IsLiveTerminal(STDOUT_FILENO);
  Console console(is_silent ? Verbosity::kSilent : is_live ? Verbosity::kLive : Verbosity::kPlain);
  return SweepCommand(options, resumed, console).Run();
}

}  // namespace hogbatch
