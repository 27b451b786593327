#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/indexed_vector.h"
#include "core/threads.h"
#include "messaging/mailbox.h"
#include "runtime/executors/executor.h"
#include "runtime/executors/pinning.h"
#include "runtime/executors/task_pipeline.h"

namespace hogbatch {
namespace {

// How often the executor asks whether it should stop.
constexpr double kPollSeconds = 0.1;

// If the executor itself was away for so long, the process was stopped.
constexpr double kAsleepSeconds = 2;

// A worker may take kStartFactor * Coordinator::silence_seconds to get ready: a driver may compile
// its kernels for minutes. If the run is to stop before any worker is ready, the first one may take
// a fraction of it.
constexpr double kStartFactor = 5;
constexpr double kStopFraction = 1.0 / 12;

// How often an idle worker looks whether the run has ended without a message.
constexpr double kIdleSeconds = 1;

constexpr char kNotReady[] = "it did not get ready in time and is given up";

// What the coordinator's thread and that of a worker share. The flags take no memory: they say what
// a message cannot when there is none left.
struct Channel {
  Mailbox<std::optional<Task>> inbox;    // an empty message ends the thread
  std::atomic<bool> is_ready = false;    // it can begin, or never will
  std::atomic<bool> ends = false;        // the run is over
  std::atomic<bool> given_up = false;    // the worker did not answer; it takes no further task
  std::atomic<bool> has_failed = false;  // and could not send a Failure
  std::atomic<bool> has_ended = false;   // the thread uses nothing any more
};

Activity ActivityOf(TaskKind kind) {
  switch (kind) {
    case TaskKind::kTrain:
      return Activity::kTraining;
    case TaskKind::kApply:
      return Activity::kApplying;
    case TaskKind::kSnapshot:
    case TaskKind::kKeepLanes:
    case TaskKind::kSave:
    case TaskKind::kRestore:
    case TaskKind::kRelease:
      return Activity::kSnapshot;
    case TaskKind::kEvaluate:
      break;
  }
  return Activity::kEvaluation;
}

// A task that has just been finished.
TaskSpan SpanOf(const Task& task, const Report& report, double ended) {
  return {.begin = ended - report.seconds,
          .end = ended,
          .rows = task.rows.size(),
          .updates = report.updates,
          .merges = report.merges,
          .activity = ActivityOf(task.kind)};
}

// The body of a worker's thread.
class WorkerThread {
 public:
  WorkerThread(WorkerId id, int depth, Channel& channel, Mailbox<Event>& outbox, WorkerTrace* trace)
      : id_(id), depth_(depth), channel_(channel), outbox_(outbox), trace_(trace) {}

  // Calls `on_ready` when the worker can begin, or never will.
  void Run(const WorkerFactory& make, const std::function<void()>& on_ready) {
    std::unique_ptr<Worker> worker;
    std::optional<TaskPipeline> pipeline;
    const auto fail = [&](const char* what) {
      try {
        outbox_.Send(pipeline ? pipeline->MakeFailure(id_, what)
                              : Failure{.worker = id_, .what = what});
      } catch (const std::bad_alloc&) {
        channel_.has_failed = true;
      }
    };
    try {
      worker = MakeReady(make, on_ready);
      pipeline.emplace(*worker, depth_,
                       [this](const Task& task, const Report& report, double ended) {
                         if (trace_) trace_->Add(SpanOf(task, report, ended));
                         outbox_.Send(report);
                       });
      while (const std::optional<Task> task = NextTask(*pipeline)) pipeline->Run(*task);
      return;
    } catch (const std::exception& error) {
      fail(WhatOf(error));
    } catch (...) {
      fail("an unknown failure");
    }
    // A failed worker stays in memory until the run ends: others may still read the gradient that
    // it holds for a synchronous round.
    while (Receive()) {
    }
  }

 private:
  static std::unique_ptr<Worker> MakeReady(const WorkerFactory& make,
                                           const std::function<void()>& on_ready) {
    try {
      std::unique_ptr<Worker> worker = make();
      worker->Prepare();
      on_ready();
      return worker;
    } catch (...) {
      on_ready();
      throw;
    }
  }

  // A pending merge waits only for a task that is already in the inbox.
  std::optional<Task> NextTask(TaskPipeline& pipeline) {
    if (channel_.given_up) throw DeviceError("it answered too late");
    if (pipeline.has_pending()) {
      if (const std::optional<std::optional<Task>> task = channel_.inbox.TryReceive()) return *task;
      pipeline.CommitPending();
    }
    return Receive();
  }

  std::optional<Task> Receive() {
    while (!channel_.ends) {
      if (const std::optional<std::optional<Task>> task = channel_.inbox.Receive(kIdleSeconds)) {
        return *task;
      }
    }
    return std::nullopt;
  }

  WorkerId id_;
  int depth_;
  Channel& channel_;
  Mailbox<Event>& outbox_;
  WorkerTrace* trace_;  // null: none is wanted
};

class ThreadExecutor : public Executor {
 public:
  ThreadExecutor(std::vector<WorkerFactory> workers, Pinning pinning,
                 std::function<bool()> stop_requested, RunTrace* trace)
      : factories_(std::move(workers)),
        stop_requested_(std::move(stop_requested)),
        trace_(trace),
        channels_(factories_.size()) {
    if (pinning == Pinning::kCores) cores_.emplace();
  }

  void Run(Coordinator& coordinator, RunObserver& observer, CheckpointKeeper* keeper) override {
    keeper_ = keeper;
    IndexedVector<WorkerId, std::jthread> threads;
    try {
      StartWorkers(coordinator, threads);
      const std::set<WorkerId> late = AwaitWorkers(coordinator, observer);
      if (trace_) trace_->Begin(SteadySeconds());
      for (const WorkerId id : late) {
        Handle(coordinator, Failure{.worker = id, .what = kNotReady, .hangs = true}, observer);
      }
      Handle(coordinator, Tick{}, observer);
      bool stop_sent = false;
      while (!coordinator.done()) {
        Handle(coordinator, NextEvent(coordinator, stop_sent), observer);
      }
      if (keeper_) {
        keeper_->AwaitTaken();
        Handle(coordinator, CheckpointRequest{}, observer);
      }
      while (coordinator.checkpoint_pending()) {
        Handle(coordinator, AwaitEvent(coordinator), observer);
      }
    } catch (...) {
      StopWorkers();
      LeaveHangingWorkers(threads, coordinator.silence_seconds());
      throw;
    }
    StopWorkers();
    LeaveHangingWorkers(threads, 0);
  }

  bool has_hanging_worker() const override { return has_hanging_worker_; }

 private:
  // A worker that computes on a core is pinned to its own core. A worker that feeds another device
  // keeps off those cores, and so do the threads that the device's driver starts from there. That
  // needs one free core for two feeding workers: one merges while the other waits for its device.
  void StartWorkers(const Coordinator& coordinator,
                    IndexedVector<WorkerId, std::jthread>& threads) {
    const auto training = static_cast<int>(std::ranges::count_if(
        coordinator.workers(),
        [](const WorkerState& worker) { return worker.device.shares_host_memory; }));
    const int feeding = static_cast<int>(factories_.size()) - training;
    const bool apart = cores_ && 2 * (cores_->count() - training) >= feeding;
    int next_core = 0;
    // A thread that finds no place there would be waited for, and nothing has told it to end.
    threads.reserve(factories_.size());
    for (const WorkerId id : factories_.ids()) {
      const DeviceInfo& device = coordinator.workers()[id].device;
      const int depth = device.depth;
      std::optional<int> core;
      if (device.shares_host_memory) core = next_core++;
      threads.push_back(StartThread([this, id, depth, core, training, apart] {
        WorkerTrace* const trace = trace_ ? &trace_->of(id) : nullptr;
        const auto make = [&] {
          if (cores_ && core) cores_->PinThisThread(*core);
          if (apart && !core) cores_->KeepThisThreadOff(training);
          return factories_[id]();
        };
        WorkerThread(id, depth, channels_[id], outbox_, trace).Run(make, [&] { SetReady(id); });
        channels_[id].has_ended = true;
      }));
    }
  }

  // Training begins when all workers are ready. Otherwise a core would train all rows while a
  // driver compiles its kernels for seconds, and the algorithm would take the other team for slow.
  // Returns those that take too long, or did not get ready before the run was to stop.
  std::set<WorkerId> AwaitWorkers(const Coordinator& coordinator, RunObserver& observer) {
    const double begin = SteadySeconds(), silence = coordinator.silence_seconds();
    double ends = begin + kStartFactor * silence;
    std::set<WorkerId> preparing;
    for (const WorkerState& worker : coordinator.workers()) preparing.insert(worker.id);
    while (!preparing.empty()) {
      const double now = SteadySeconds(), away = now - std::exchange(polled_at_, now);
      if (away > kAsleepSeconds) ends += away;
      if (AwaitReady(preparing)) {
        std::erase_if(preparing, [this](WorkerId id) { return channels_[id].is_ready.load(); });
      } else if (now >= ends) {
        break;
      } else if (StopRequested()) {
        if (preparing.size() < factories_.size()) break;
        ends = std::min(ends, now + kStopFraction * silence);
      } else {
        const WorkerState& late = coordinator.workers()[*preparing.begin()];
        observer.OnPreparation(late.device.name, now - begin);
      }
    }
    return preparing;
  }

  // Waits a moment. True: one of them is ready.
  bool AwaitReady(const std::set<WorkerId>& preparing) {
    std::unique_lock lock(ready_mutex_);
    return ready_changed_.wait_for(lock, std::chrono::duration<double>(kPollSeconds), [&] {
      return std::ranges::any_of(preparing,
                                 [this](WorkerId id) { return channels_[id].is_ready.load(); });
    });
  }

  // Takes no memory: a worker that is out of it must not keep the others waiting.
  void SetReady(WorkerId id) {
    const std::scoped_lock lock(ready_mutex_);
    channels_[id].is_ready = true;
    ready_changed_.notify_one();
  }

  Event NextEvent(const Coordinator& coordinator, bool& stop_sent) {
    if (!stop_sent && StopRequested()) {
      stop_sent = true;
      return Interrupt{};
    }
    if (keeper_) {
      if (const std::optional<Event> event = keeper_->NextEvent(coordinator, SteadySeconds())) {
        return *event;
      }
    }
    return AwaitEvent(coordinator);
  }

  Event AwaitEvent(const Coordinator& coordinator) {
    if (const std::optional<WorkerId> failed = FailedWithoutMessage()) {
      channels_[*failed].has_failed = false;
      return Failure{.worker = *failed, .what = "out of memory"};
    }
    const double now = SteadySeconds();
    if (now - std::exchange(polled_at_, now) > kAsleepSeconds) return ProcessContinued{};
    const double wait = std::clamp(coordinator.next_tick() - now, 0.0, kPollSeconds);
    return outbox_.Receive(wait).value_or(Tick{});
  }

  void Handle(Coordinator& coordinator, const Event& event, RunObserver& observer) {
    const Coordinator::Actions& actions = coordinator.Handle(event, SteadySeconds());
    for (const Task& task : actions.tasks) channels_[task.worker].inbox.Send(task);
    for (const Failure& failure : actions.failures) {
      if (!failure.hangs) continue;
      channels_[failure.worker].given_up = true;
    }
    Notify(observer, coordinator, actions);
    if (TakeCheckpoints(coordinator, keeper_)) Handle(coordinator, Tick{}, observer);
  }

  // Workers that were given up get a moment to end, and the others `patience` seconds if that is
  // more than 0. Those that do not are left alone for ever.
  void LeaveHangingWorkers(IndexedVector<WorkerId, std::jthread>& threads, double patience) {
    const double end = SteadySeconds();
    for (const WorkerId id : threads.ids()) {
      const Channel& channel = channels_[id];
      const double allowed = channel.given_up ? kIdleSeconds : patience;
      while (!channel.has_ended && SteadySeconds() < end + allowed) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (channel.has_ended || allowed == 0) continue;
      threads[id].detach();
      has_hanging_worker_ = true;
    }
  }

  void StopWorkers() {
    for (Channel& channel : channels_) {
      channel.ends = true;
      try {
        channel.inbox.Send(std::nullopt);
      } catch (const std::bad_alloc&) {  // it looks at `ends` soon
      }
    }
  }

  std::optional<WorkerId> FailedWithoutMessage() const {
    for (const WorkerId id : channels_.ids()) {
      if (channels_[id].has_failed) return id;
    }
    return std::nullopt;
  }

  bool StopRequested() const { return stop_requested_ && stop_requested_(); }

  IndexedVector<WorkerId, WorkerFactory> factories_;
  std::optional<Cores> cores_;
  std::function<bool()> stop_requested_;
  RunTrace* trace_;  // null: none is wanted
  CheckpointKeeper* keeper_ = nullptr;
  IndexedVector<WorkerId, Channel> channels_;
  Mailbox<Event> outbox_;
  std::mutex ready_mutex_;
  std::condition_variable ready_changed_;  // Channel::is_ready of a worker
  double polled_at_ = SteadySeconds();
  bool has_hanging_worker_ = false;
};

}  // namespace

std::unique_ptr<Executor> MakeThreadExecutor(std::vector<WorkerFactory> workers, Pinning pinning,
                                             std::function<bool()> stop_requested,
                                             RunTrace* trace) {
  return std::make_unique<ThreadExecutor>(std::move(workers), pinning, std::move(stop_requested),
                                          trace);
}

}  // namespace hogbatch
