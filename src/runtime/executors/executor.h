// Motion: carries messages between one coordinator and its workers until the run is over.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "device/cost_model.h"
#include "runtime/control/coordinator.h"
#include "runtime/control/progress.h"
#include "runtime/workers/worker.h"

namespace hogbatch {

class Executor {
 public:
  virtual ~Executor() = default;
  // Returns when the coordinator is done. A worker's exception becomes a Failure event.
  virtual void Run(Coordinator& coordinator, RunObserver& observer) = 0;
};

// Shows what a coordinator's actions hold for the outside.
void Tell(const Coordinator& coordinator, const Coordinator::Actions& actions,
          RunObserver& observer);

enum class Pinning : std::uint8_t { kNone, kCores };

// One thread a worker, messages through lock-free mailboxes, in real time. `interrupts` counts what
// the user sent so far; the coordinator hears of the first.
std::unique_ptr<Executor> MakeThreadExecutor(std::vector<WorkerFactory> workers, Pinning pinning,
                                             const std::atomic<int>& interrupts);

// The same coordinator and workers on one thread, driven from an event heap in virtual time: worker
// i takes costs[i] for its updates, Compute happens at an update's start and Commit at its end.
std::unique_ptr<Executor> MakeVirtualExecutor(std::vector<WorkerFactory> workers,
                                              std::vector<CostModel> costs);

// Seconds that an update of so many rows takes if it begins at `now`: for workers that become
// slower in the course of a run.
using UpdateCost = std::function<double(std::int64_t rows, double now)>;
std::unique_ptr<Executor> MakeVirtualExecutor(std::vector<WorkerFactory> workers,
                                              std::vector<UpdateCost> costs);

}  // namespace hogbatch
