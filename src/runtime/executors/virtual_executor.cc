#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "runtime/executors/executor.h"

namespace hogbatch {
namespace {

class VirtualExecutor : public Executor {
 public:
  VirtualExecutor(const std::vector<WorkerFactory>& workers, std::vector<UpdateCost> costs) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      seats_.emplace_back();
      Guard(seats_.back(), [&] { seats_.back().worker = workers[i](); });
      seats_.back().cost = std::move(costs[i]);
    }
  }

  void Run(Coordinator& coordinator, RunObserver& observer) override {
    Step(coordinator, Tick{}, observer);
    while (!coordinator.done()) {
      if (ends_.empty() || ends_.top().time > coordinator.next_tick()) {
        now_ = std::max(now_, coordinator.next_tick());
        Step(coordinator, Tick{}, observer);
        continue;
      }
      const End end = ends_.top();
      ends_.pop();
      now_ = end.time;
      if (const std::optional<Event> event = EndUpdate(end.worker)) {
        Step(coordinator, *event, observer);
      }
    }
  }

 private:
  struct Seat {
    std::unique_ptr<Worker> worker;
    UpdateCost cost;
    std::deque<Task> tasks;  // the first is under way
    int merge = 0;           // of the first task
    double begun = 0;
    std::string failure;  // empty: none
  };
  // The end of an update. Equal times go by the order they were planned in, so runs repeat exactly.
  struct End {
    double time;
    std::int64_t order;
    std::size_t worker;
    bool operator<(const End& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  void Step(Coordinator& coordinator, const Event& event, RunObserver& observer) {
    const Coordinator::Actions& actions = coordinator.Handle(event, now_);
    Tell(coordinator, actions, observer);
    for (const Task& task : actions.tasks) {
      const auto index = static_cast<std::size_t>(task.worker);
      seats_[index].tasks.push_back(task);
      if (seats_[index].tasks.size() == 1) BeginTask(index);
    }
  }

  void BeginTask(std::size_t index) {
    seats_[index].merge = 0;
    seats_[index].begun = now_;
    BeginUpdate(index);
  }

  // Computes now what will be committed at the update's end: in between others may change the
  // model.
  void BeginUpdate(std::size_t index) {
    Seat& seat = seats_[index];
    const Task& task = seat.tasks.front();
    Guard(seat, [&] { seat.worker->Compute(task, seat.merge); });
    const RowRange rows = Part(task.rows, seat.merge, task.merges);
    double seconds = 0;
    for (int step = 0; step < task.updates_per_merge; ++step) {
      seconds += seat.cost(Part(rows, step, task.updates_per_merge).size(), now_);
    }
    ends_.push({now_ + seconds, order_++, index});
  }

  std::optional<Event> EndUpdate(std::size_t index) {
    Seat& seat = seats_[index];
    const Task task = seat.tasks.front();
    Guard(seat, [&] { seat.worker->Commit(task, seat.merge); });
    if (!seat.failure.empty()) return Fail(index);
    if (++seat.merge < task.merges) {
      BeginUpdate(index);
      return std::nullopt;
    }
    Report report;
    Guard(seat, [&] { report = seat.worker->Finish(task); });
    if (!seat.failure.empty()) return Fail(index);
    report.seconds = now_ - seat.begun;
    seat.tasks.pop_front();
    if (!seat.tasks.empty()) BeginTask(index);
    return report;
  }

  Event Fail(std::size_t index) {
    Seat& seat = seats_[index];
    Failure failure{.worker = static_cast<WorkerId>(index), .what = seat.failure};
    failure.task = seat.tasks.front().id;
    failure.merges_done = seat.merge;
    if (seat.worker && seat.worker->tore_merge()) {
      failure.torn = {.task = failure.task, .merge = failure.merges_done};
    }
    seat.tasks.clear();
    return failure;
  }

  template <typename Call>
  static void Guard(Seat& seat, const Call& call) {
    if (!seat.failure.empty()) return;
    try {
      call();
    } catch (const std::exception& error) {
      seat.failure = error.what();
    }
  }

  std::vector<Seat> seats_;
  std::priority_queue<End> ends_;
  std::int64_t order_ = 0;
  double now_ = 0;
};

}  // namespace

std::unique_ptr<Executor> MakeVirtualExecutor(std::vector<WorkerFactory> workers,
                                              std::vector<CostModel> costs) {
  std::vector<UpdateCost> constant;
  for (const CostModel& cost : costs) {
    constant.push_back([cost](std::int64_t rows, double) {
      return cost.seconds_per_update + cost.seconds_per_row * static_cast<double>(rows);
    });
  }
  return MakeVirtualExecutor(std::move(workers), std::move(constant));
}

std::unique_ptr<Executor> MakeVirtualExecutor(std::vector<WorkerFactory> workers,
                                              std::vector<UpdateCost> costs) {
  return std::make_unique<VirtualExecutor>(workers, std::move(costs));
}

}  // namespace hogbatch
