#include "cli/commands.h"
#include "cli/queue/queue_command.h"
#include "core/error.h"

namespace hogbatch {
namespace {

void CheckOptions(const QueueCommandOptions& queue) {
  const bool resumes = !queue.resume.empty();
  if (resumes && (!queue.jobs.empty() || !queue.out.empty())) {
    throw UserError(
        "--resume: a queue goes on with its own jobs in its own folder; leave out JOBS "
        "and --out");
  }
  if (!queue.retry.empty() && !resumes) {
    throw UserError("--retry needs --resume DIR: the folder of the queue that has the job");
  }
  if (queue.jobs.empty() && !resumes && queue.watch.empty()) {
    throw UserError("queue needs a file of jobs; for example: hogbatch queue jobs.toml");
  }
}

}  // namespace

int RunQueue(const QueueCommandOptions& options) {
  CheckOptions(options);
  Console console(VerbosityOf(options.terminal));
  return QueueCommand(options, console).Run();
}

}  // namespace hogbatch
