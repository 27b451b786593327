#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "messaging/mailbox.h"
#include "runtime/executor.h"
#include "runtime/pinning.h"

namespace hogbatch {
namespace {

// A signal handler can only raise a counter; this is how often somebody looks at it.
constexpr double kLongestWait = 0.1;

double Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// Where a worker gets its tasks; an empty one sends it home.
using Inbox = Mailbox<std::optional<Task>>;

Report Execute(Worker& worker, const Task& task) {
  const double start = Now();
  for (int update = 0; update < task.updates; ++update) {
    worker.Compute(task, update);
    worker.Commit(task, update);
  }
  Report report = worker.Finish(task);
  report.seconds = Now() - start;
  return report;
}

// A worker's thread. A failed worker stays in memory until the end: others may still read the
// gradient it held for a common step.
void Serve(WorkerId id, const WorkerFactory& make, Inbox& inbox, Mailbox<Event>& outbox) {
  std::unique_ptr<Worker> worker;
  try {
    worker = make();
    while (const std::optional<Task> task = inbox.Receive()) outbox.Send(Execute(*worker, *task));
    return;
  } catch (const std::bad_alloc&) {
    outbox.Send(Failure{.worker = id, .what = "out of memory"});
  } catch (const std::exception& error) {
    outbox.Send(Failure{.worker = id, .what = error.what()});
  } catch (...) {
    outbox.Send(Failure{.worker = id, .what = "an unknown failure"});
  }
  while (inbox.Receive()) {
  }
}

class ThreadExecutor : public Executor {
 public:
  ThreadExecutor(std::vector<WorkerFactory> workers, Pinning pinning,
                 const std::atomic<int>& interrupts)
      : factories_(std::move(workers)), interrupts_(interrupts), inboxes_(factories_.size()) {
    if (pinning == Pinning::kCores) cores_.emplace();
  }

  void Run(Coordinator& coordinator, RunObserver& observer) override {
    std::vector<std::jthread> threads;
    try {
      StartWorkers(coordinator, threads);
      Step(coordinator, Tick{}, observer);
      bool told = false;
      while (!coordinator.done()) Step(coordinator, NextEvent(coordinator, told), observer);
    } catch (...) {
      SendHome();
      throw;
    }
    SendHome();
  }

 private:
  // A worker that is a core gets one. One that feeds a device goes where there is room: so do the
  // threads that the device's driver starts from there.
  void StartWorkers(const Coordinator& coordinator, std::vector<std::jthread>& threads) {
    int next_core = 0;
    for (std::size_t i = 0; i < factories_.size(); ++i) {
      std::optional<int> core;
      if (coordinator.workers()[i].device.shares_host_memory) core = next_core++;
      threads.emplace_back([this, i, core] {
        if (cores_ && core) cores_->PinThisThread(*core);
        Serve(static_cast<WorkerId>(i), factories_[i], inboxes_[i], outbox_);
      });
    }
  }

  Event NextEvent(const Coordinator& coordinator, bool& told) {
    if (!told && interrupts_.load(std::memory_order_relaxed) > 0) {
      told = true;
      return Interrupt{};
    }
    const double wait = std::clamp(coordinator.next_tick() - Now(), 0.0, kLongestWait);
    return outbox_.Receive(wait).value_or(Tick{});
  }

  void Step(Coordinator& coordinator, const Event& event, RunObserver& observer) {
    const Coordinator::Actions& actions = coordinator.Handle(event, Now());
    for (const Task& task : actions.tasks)
      inboxes_[static_cast<std::size_t>(task.worker)].Send(task);
    Tell(coordinator, actions, observer);
  }

  void SendHome() {
    for (Inbox& inbox : inboxes_) inbox.Send(std::nullopt);
  }

  std::vector<WorkerFactory> factories_;
  std::optional<Cores> cores_;
  const std::atomic<int>& interrupts_;
  std::vector<Inbox> inboxes_;
  Mailbox<Event> outbox_;
};

}  // namespace

std::unique_ptr<Executor> MakeThreadExecutor(std::vector<WorkerFactory> workers, Pinning pinning,
                                             const std::atomic<int>& interrupts) {
  return std::make_unique<ThreadExecutor>(std::move(workers), pinning, interrupts);
}

}  // namespace hogbatch
