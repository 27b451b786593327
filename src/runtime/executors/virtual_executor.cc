#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "core/indexed_vector.h"
#include "runtime/executors/executor.h"

namespace hogbatch {
namespace {

class VirtualExecutor : public Executor {
 public:
  VirtualExecutor(const std::vector<WorkerFactory>& workers, std::vector<UpdateCost> costs) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      SimulatedWorker& simulated = workers_[workers_.push_back({})];
      Try(simulated, [&] { simulated.worker = workers[i](); });
      simulated.cost = std::move(costs[i]);
    }
  }

  void Run(Coordinator& coordinator, RunObserver& observer, CheckpointKeeper* keeper) override {
    keeper_ = keeper;
    Handle(coordinator, Tick{}, observer);
    while (!coordinator.done()) HandleNext(coordinator, observer);
    if (keeper_) {
      keeper_->AwaitTaken();
      Handle(coordinator, CheckpointRequest{}, observer);
    }
    while (coordinator.checkpoint_pending()) HandleNext(coordinator, observer);
  }

 private:
  // Goes on to the next event.
  void HandleNext(Coordinator& coordinator, RunObserver& observer) {
    if (keeper_) {
      if (const std::optional<Event> event = keeper_->NextEvent(coordinator, now_)) {
        Handle(coordinator, *event, observer);
      }
    }
    if (ends_.empty() || ends_.top().time > coordinator.next_tick()) {
      now_ = std::max(now_, coordinator.next_tick());
      return Handle(coordinator, Tick{}, observer);
    }
    const MergeEnd end = ends_.top();
    ends_.pop();
    now_ = end.time;
    if (const std::optional<Event> event = EndMerge(end.worker)) {
      Handle(coordinator, *event, observer);
    }
  }

  struct SimulatedWorker {
    std::unique_ptr<Worker> worker;
    UpdateCost cost;
    std::deque<Task> tasks;  // the first is under way
    int merge = 0;           // of the first task
    double begun = 0;
    std::string failure;  // empty: none
  };
  // The end of a merge. Equal times are ordered by when they were planned, so runs repeat exactly.
  struct MergeEnd {
    double time;
    std::int64_t order;
    WorkerId worker;
    bool operator<(const MergeEnd& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  void Handle(Coordinator& coordinator, const Event& event, RunObserver& observer) {
    const Coordinator::Actions& actions = coordinator.Handle(event, now_);
    Notify(observer, coordinator, actions);
    for (const Task& task : actions.tasks) {
      std::deque<Task>& tasks = workers_[task.worker].tasks;
      tasks.push_back(task);
      if (tasks.size() == 1) BeginTask(task.worker);
    }
    if (TakeCheckpoints(coordinator, keeper_)) Handle(coordinator, Tick{}, observer);
  }

  void BeginTask(WorkerId id) {
    workers_[id].merge = 0;
    workers_[id].begun = now_;
    BeginMerge(id);
  }

  // Computes now and commits at the end of the merge: other workers may change the model in
  // between.
  void BeginMerge(WorkerId id) {
    SimulatedWorker& simulated = workers_[id];
    const Task& task = simulated.tasks.front();
    Try(simulated, [&] { simulated.worker->Compute(task, simulated.merge); });
    const RowRange rows = Part(task.rows, simulated.merge, task.merges);
    double seconds = 0;
    for (int update = 0; update < task.updates_per_merge; ++update) {
      seconds += simulated.cost(Part(rows, update, task.updates_per_merge).size(), now_);
    }
    ends_.push({now_ + seconds, order_++, id});
  }

  std::optional<Event> EndMerge(WorkerId id) {
    SimulatedWorker& simulated = workers_[id];
    const Task task = simulated.tasks.front();
    Try(simulated, [&] { simulated.worker->Commit(task, simulated.merge); });
    if (!simulated.failure.empty()) return Fail(id);
    if (++simulated.merge < task.merges) {
      BeginMerge(id);
      return std::nullopt;
    }
    Report report;
    Try(simulated, [&] { report = simulated.worker->Finish(task); });
    if (!simulated.failure.empty()) return Fail(id);
    report.seconds = now_ - simulated.begun;
    simulated.tasks.pop_front();
    if (!simulated.tasks.empty()) BeginTask(id);
    return report;
  }

  Event Fail(WorkerId id) {
    SimulatedWorker& simulated = workers_[id];
    Failure failure{.worker = id, .what = simulated.failure};
    failure.task = simulated.tasks.front().id;
    failure.merges_done = simulated.merge;
    if (simulated.worker && simulated.worker->merge_is_torn()) {
      failure.torn = {.task = failure.task, .merge = failure.merges_done};
    }
    simulated.tasks.clear();
    return failure;
  }

  // Notes a failure; a worker that failed is not called again.
  template <typename Call>
  static void Try(SimulatedWorker& simulated, const Call& call) {
    if (!simulated.failure.empty()) return;
    try {
      call();
    } catch (const std::exception& error) {
      simulated.failure = error.what();
    }
  }

  CheckpointKeeper* keeper_ = nullptr;
  IndexedVector<WorkerId, SimulatedWorker> workers_;
  std::priority_queue<MergeEnd> ends_;
  std::int64_t order_ = 0;
  double now_ = 0;
};

}  // namespace

std::unique_ptr<Executor> MakeVirtualExecutor(const std::vector<WorkerFactory>& workers,
                                              const std::vector<CostModel>& costs) {
  std::vector<UpdateCost> constant;
  for (const CostModel& cost : costs) {
    constant.push_back([cost](std::int64_t rows, double) {
      return cost.seconds_per_update + cost.seconds_per_row * static_cast<double>(rows);
    });
  }
  return MakeVirtualExecutor(workers, std::move(constant));
}

std::unique_ptr<Executor> MakeVirtualExecutor(const std::vector<WorkerFactory>& workers,
                                              std::vector<UpdateCost> costs) {
  return std::make_unique<VirtualExecutor>(workers, std::move(costs));
}

}  // namespace hogbatch
