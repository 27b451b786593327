#include <unistd.h>

#include "cli/commands.h"
#include "cli/reports/live_line.h"
#include "cli/sweep/sweep_command.h"
#include "core/error.h"

namespace hogbatch {

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
