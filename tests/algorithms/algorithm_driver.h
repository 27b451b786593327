// An algorithm without a run: reports go in by hand, sizes come out.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/algorithms.h"
#include "runtime/control/task_length.h"

namespace hogbatch {

// Workers that report when told to. Team 0 is `threads` CPU threads, each further team is a GPU.
class AlgorithmDriver {
 public:
  AlgorithmDriver(int threads, int gpus, AlgorithmOptions options = {})
      : algorithm_(MakeAlgorithm("adaptive", options)) {
    for (int i = 0; i < threads + gpus; ++i) {
      const bool is_cpu = i < threads;
      workers_.push_back({.id = i,
                          .device = {.name = "a",
                                     .description = "b",
                                     .kind = is_cpu ? DeviceKind::kCpu : DeviceKind::kCuda},
                          .team = is_cpu ? 0 : i - threads + (threads > 0 ? 1 : 0)});
    }
  }

  // The rows per update of the worker's next task.
  std::int64_t Ask(WorkerId worker) {
    const JobState job{.id = 0, .train_rows = 1 << 30, .remaining_rows = 1 << 30};
    const JobTable table{.jobs = {&job, 1}, .workers = workers_};
    return algorithm_->Assign(this->worker(worker), table)->batch_size;
  }
  // Adds `updates` updates of `rows` rows at `speed` updates a second; 0: the speed is unknown.
  void Report(WorkerId id, int updates, std::int64_t rows = 1, double speed = 0) {
    const TimedTask task{.rows = updates * rows, .seconds = speed > 0 ? updates / speed : 0};
    WorkerState& state = worker(id);
    state.updates += updates;
    state.seconds_per_row = SmoothedSecondsPerRow(state.seconds_per_row, task);
    algorithm_->Observe(
        {.worker = id, .rows = task.rows, .updates = updates, .seconds = task.seconds});
  }
  std::int64_t ReportAndAsk(WorkerId id, int updates) {
    Report(id, updates);
    return Ask(id);
  }
  WorkerState& worker(WorkerId id) { return workers_[static_cast<std::size_t>(id)]; }
  const std::vector<WorkerState>& workers() const { return workers_; }
  std::vector<BoundTeam> held() const { return algorithm_->bound_teams(); }

 private:
  std::unique_ptr<Algorithm> algorithm_;
  std::vector<WorkerState> workers_;
};

}  // namespace hogbatch
