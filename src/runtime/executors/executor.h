// Carries messages between one coordinator and its workers until the run is over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/run_trace.h"
#include "device/cost_model.h"
#include "runtime/control/coordinator.h"
#include "runtime/control/progress.h"
#include "runtime/workers/worker.h"

namespace hogbatch {

// Decides when a run is checkpointed, and keeps the checkpoints.
class CheckpointKeeper {
 public:
  virtual ~CheckpointKeeper() = default;
  // Asked between events, if none is pending. `now` is the time of the executor.
  virtual bool IsDue(double now) = 0;
  // Asked between events for one to handle first. In a run of many jobs it may also add jobs.
  virtual std::optional<Event> NextEvent(const Coordinator& coordinator, double now) {
    if (coordinator.checkpoint_pending() || !IsDue(now)) return std::nullopt;
    return CheckpointRequest{};
  }
  // The job's checkpoint is ready. Until its next Take, no worker changes what it has saved
  // (JobMemory::saved_weights, saved_workers).
  virtual void Take(JobRun& job) = 0;
  // Returns when the last one is on disk, or has failed: another may be taken.
  virtual void AwaitTaken() {}
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Returns when the coordinator is done. A worker's exception becomes a Failure event. With a
  // keeper, one more checkpoint is taken at the end.
  virtual void Run(Coordinator& coordinator, RunObserver& observer,
                   CheckpointKeeper* keeper = nullptr) = 0;
  // After Run: a worker hangs. Its thread still uses this executor, the worker's device and all
  // that the worker was made from, so that none of it may ever be freed.
  virtual bool has_hanging_worker() const { return false; }
};

// Tells the observer of all but the tasks among a coordinator's actions.
void Notify(RunObserver& observer, const Coordinator& coordinator,
            const Coordinator::Actions& actions);
// Gives the keeper the checkpoints that are ready. Returns whether there were any: the coordinator
// then needs a Tick, to go on.
bool TakeCheckpoints(Coordinator& coordinator, CheckpointKeeper* keeper);

enum class Pinning : std::uint8_t { kNone, kCores };

// One thread per worker, lock-free mailboxes, real time.
//
// The run stops early when `stop_requested` returns true; the model is still evaluated, so that the
// best one can be saved. Run polls it on its own thread every 0.1 s, so it may read what a signal
// handler or another thread set, such as a std::stop_token. Empty: the run is never stopped.
//
// `trace`, if there is one, has room for these workers and gets every task that they finish. It may
// be read when Run has returned.
std::unique_ptr<Executor> MakeThreadExecutor(std::vector<WorkerFactory> workers, Pinning pinning,
                                             std::function<bool()> stop_requested = {},
                                             RunTrace* trace = nullptr);

// The same coordinator and workers on one thread, in virtual time. Worker i takes costs[i] for its
// updates. Compute runs when a merge begins and Commit when it ends.
std::unique_ptr<Executor> MakeVirtualExecutor(const std::vector<WorkerFactory>& workers,
                                              const std::vector<CostModel>& costs);

// Seconds that an update of `rows` rows takes if it begins at time `now`: for workers whose speed
// changes during a run.
using UpdateCost = std::function<double(std::int64_t rows, double now)>;
std::unique_ptr<Executor> MakeVirtualExecutor(const std::vector<WorkerFactory>& workers,
                                              std::vector<UpdateCost> costs);

}  // namespace hogbatch
