#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/reports/live_line.h"
#include "cli/sweep/sweep_command.h"
#include "core/error.h"

namespace hogbatch {

SweepCommandOptions EnsembleOf(const TrainOptions& options) {
  const auto refuse = [](bool given, const char* name) {
    if (!given) return;
    throw UserError(fmt::format(
        "--{}: it shows one network while it trains, not an ensemble; leave out --{} or --ensemble",
        name, name));
  };
  refuse(options.report, "report");
  refuse(!options.trace.empty(), "trace");
  refuse(options.tensorboard, "tensorboard");
  return {.training = SweptOptions::Of(options.spec),
          .search = {.ensemble = options.ensemble},
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
