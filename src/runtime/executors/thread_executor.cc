#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "messaging/mailbox.h"
#include "runtime/executors/executor.h"
#include "runtime/executors/pinning.h"

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

// A worker on its thread: walks tasks update by update. On a device of depth 2 an update is
// computed before the one ahead of it is committed, so that its rows and weights travel meanwhile.
class Walk {
 public:
  Walk(WorkerId id, int depth, Inbox& inbox, Mailbox<Event>& outbox)
      : id_(id), depth_(depth), inbox_(inbox), outbox_(outbox) {}

  // Calls `ready` when the worker can begin, or never will.
  void Serve(const WorkerFactory& make, const std::function<void()>& ready) {
    std::unique_ptr<Worker> worker;
    try {
      try {
        worker = make();
        worker->Prepare();
      } catch (...) {
        ready();
        throw;
      }
      ready();
      worker_ = worker.get();
      while (const std::optional<Task> task = Next()) Take(*task);
      return;
    } catch (const std::bad_alloc&) {
      Fail("out of memory");
    } catch (const std::exception& error) {
      Fail(error.what());
    } catch (...) {
      Fail("an unknown failure");
    }
    // A failed worker stays in memory until the end: others may still read the gradient it held for
    // a common step.
    while (inbox_.Receive()) {
    }
  }

 private:
  struct Step {
    Task task;
    int merge = 0;  // of the task; as many are done
    double task_begun = 0;
  };

  // While an update waits to be committed, only a task that is there already.
  std::optional<Task> Next() {
    if (computed_) {
      if (const std::optional<std::optional<Task>> task = inbox_.TryReceive()) return *task;
      Settle();
    }
    return inbox_.Receive();
  }

  void Take(const Task& task) {
    // Only training is overlapped: whatever else comes finds all updates committed.
    const bool overlaps = depth_ > 1 && task.kind == TaskKind::kTrain && !task.hold;
    const double begun = Now();
    for (int merge = 0; merge < task.merges; ++merge) {
      if (!overlaps) Settle();
      under_way_ = Step{task, merge, begun};
      worker_->Compute(task, merge);
      Settle();
      computed_ = std::exchange(under_way_, std::nullopt);
      if (!overlaps) Settle();
    }
  }

  // Commits the update that waits for it, and reports when it was its task's last.
  void Settle() {
    if (!computed_) return;
    const std::optional<Step> next = std::exchange(under_way_, computed_);
    worker_->Commit(computed_->task, computed_->merge);
    under_way_ = next;
    // It counts as done from here on, even if the task's end fails.
    if (++computed_->merge == computed_->task.merges) SendReport(*computed_);
    computed_.reset();
  }

  void SendReport(const Step& done) {
    Report report = worker_->Finish(done.task);
    const double now = Now();
    report.seconds = now - std::max(done.task_begun, reported_at_);
    reported_at_ = now;
    outbox_.Send(report);
  }

  void Fail(const char* what) {
    Failure failure{.worker = id_, .what = what};
    if (const std::optional<Step>& oldest = computed_ ? computed_ : under_way_) {
      failure.task = oldest->task.id;
      failure.merges_done = oldest->merge;
    }
    if (under_way_ && worker_->tore_merge()) {
      failure.torn = {.task = under_way_->task.id, .merge = under_way_->merge};
    }
    outbox_.Send(failure);
  }

  WorkerId id_;
  int depth_;
  Inbox& inbox_;
  Mailbox<Event>& outbox_;
  Worker* worker_ = nullptr;
  std::optional<Step> computed_;   // and not yet committed
  std::optional<Step> under_way_;  // in Compute or Commit
  double reported_at_ = 0;
};

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
      AwaitWorkers(coordinator, observer);
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
  // A worker that is a core gets one. One that feeds a device goes where no core trains, if there
  // is room (two share a core well: one merges while the other waits for its device), and so do the
  // threads that the device's driver starts from there.
  void StartWorkers(const Coordinator& coordinator, std::vector<std::jthread>& threads) {
    const auto training = static_cast<int>(std::ranges::count_if(
        coordinator.workers(),
        [](const WorkerState& worker) { return worker.device.shares_host_memory; }));
    const int feeding = static_cast<int>(factories_.size()) - training;
    const bool apart = cores_ && 2 * (cores_->count() - training) >= feeding;
    int next_core = 0;
    for (std::size_t i = 0; i < factories_.size(); ++i) {
      const DeviceInfo& device = coordinator.workers()[i].device;
      const int depth = device.depth;
      std::optional<int> core;
      if (device.shares_host_memory) core = next_core++;
      threads.emplace_back([this, i, depth, core, training, apart] {
        if (cores_ && core) cores_->PinThisThread(*core);
        if (apart && !core) cores_->KeepThisThreadOff(training);
        const auto id = static_cast<WorkerId>(i);
        Walk(id, depth, inboxes_[i], outbox_).Serve(factories_[i], [&] { ready_.Send(id); });
      });
    }
  }

  // Nobody begins before everybody can: while a driver compiles its kernels for seconds, a core
  // alone would take all rows, and take the missing team for one that is slow.
  void AwaitWorkers(const Coordinator& coordinator, RunObserver& observer) {
    const double begin = Now();
    std::set<WorkerId> preparing;
    for (const WorkerState& worker : coordinator.workers()) preparing.insert(worker.id);
    while (!preparing.empty()) {
      if (const std::optional<WorkerId> ready = ready_.Receive(kLongestWait)) {
        preparing.erase(*ready);
      } else if (interrupts_.load(std::memory_order_relaxed) > 0) {
        return;
      } else {
        const auto late = static_cast<std::size_t>(*preparing.begin());
        observer.OnPreparation(coordinator.workers()[late].device.name, Now() - begin);
      }
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
  Mailbox<WorkerId> ready_;  // to begin
};

}  // namespace

std::unique_ptr<Executor> MakeThreadExecutor(std::vector<WorkerFactory> workers, Pinning pinning,
                                             const std::atomic<int>& interrupts) {
  return std::make_unique<ThreadExecutor>(std::move(workers), pinning, interrupts);
}

}  // namespace hogbatch
