#include "runtime/executors/executor.h"

namespace hogbatch {

void Notify(RunObserver& observer, const Coordinator& coordinator,
            const Coordinator::Actions& actions) {
  for (const Failure& failure : actions.failures) {
    const WorkerState& worker = coordinator.workers()[failure.worker];
    observer.OnWorkerFailed(worker.device.name, failure.what);
  }
  for (const std::string& sentence : actions.warnings) observer.OnWarning(sentence);
  for (const Progress& progress : actions.reports) observer.OnProgress(progress);
}

}  // namespace hogbatch
