#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
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
          .checkpoints = options.checkpoints,
          .terminal = options.terminal,
          .given = options.given};
}

namespace {

// --resume auto of `train`: the sweep in --out or else the latest under runs/; a new one if there
// is none.
SweepCommandOptions WithFolder(SweepCommandOptions options) {
  if (options.resume != "auto") return options;
  options.resume = options.out.empty()       ? LatestFolder(SweepTime)
                   : HoldsSweep(options.out) ? options.out
                                             : "";
  if (!options.resume.empty()) options.out.clear();
  return options;
}

// Options that do nothing would look as if they did.
void RefuseUnused(const SweepCommandOptions& options) {
  if (!options.resume.empty() ||
      options.training.Spec(options.search).ChosenSearch() == Search::kAsha) {
    return;
  }
  for (const char* const name : {"eta", "min-epochs"}) {
    if (std::ranges::find(options.given, name) == options.given.end()) continue;
    throw UserError(
        fmt::format("--{0}: it is for --search asha; add --search asha, or leave out --{0}", name));
  }
}

}  // namespace

int RunSweep(const SweepCommandOptions& asked) {
  const SweepCommandOptions options = WithFolder(asked);
  std::optional<FolderLock> lock;
  std::optional<SweepRecord> resumed;
  if (!options.resume.empty()) {
    if (!options.out.empty()) {
      throw UserError(
          "--out: a resumed sweep goes on in its own folder; leave out --out or --resume");
    }
    if (HoldsSweep(options.resume)) lock.emplace(options.resume);  // before it is read
    resumed = ReadSweep(options.resume);
  } else if (!options.out.empty()) {
    RefuseSweep(options.out);
  }
  RefuseUnused(options);
  Console console(VerbosityOf(options.terminal));
  return SweepCommand(options, resumed, console).Run();
}

}  // namespace hogbatch
