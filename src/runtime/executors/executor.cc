#include "runtime/executors/executor.h"

namespace hogbatch {

void Notify(RunObserver& observer, const Coordinator& coordinator,
            const Coordinator::Actions& actions) {
  for (const Failure& failure : actions.failures) {
    const WorkerState& worker = coordinator.workers()[failure.worker];
    observer.OnWorkerFailed(worker.device.name, failure.what);
  }
  for (const JobId job : actions.began) observer.OnJobBegan(job);
  for (const auto& [job, sentence] : actions.warnings) observer.OnJobWarning(job, sentence);
  for (const Progress& progress : actions.reports) observer.OnProgress(progress);
  for (const JobId job : actions.ended) observer.OnJobEnded(job);
}

bool TakeCheckpoints(Coordinator& coordinator, CheckpointKeeper* keeper) {
  if (!keeper) return false;
  const std::vector<JobId> ready = coordinator.ready_checkpoints();
  for (const JobId job : ready) keeper->Take(coordinator.job(job));
  return !ready.empty();
}

}  // namespace hogbatch
