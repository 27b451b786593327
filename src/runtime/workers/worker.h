// A worker: one device and its scratch. An executor drives it, on a thread or in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "device/device.h"
#include "messaging/messages.h"
#include "runtime/store/job_memories.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

class Worker {
 public:
  virtual ~Worker() = default;

  // Called once before the first task, for what a device does at its first use, such as compiling
  // kernels. Does not change the model.
  virtual void Prepare() {}
  // Reads the model and computes merge `merge` of the task. On a device of depth 2 the next merge
  // may be computed before the last one is committed.
  virtual void Compute(const Task& task, int merge) = 0;
  // Merges what Compute made into the model, unless Compute has written it already: see Writes.
  virtual void Commit(const Task& task, int merge) = 0;
  // After Compute or Commit threw: the merge has changed a part of the model.
  virtual bool merge_is_torn() const { return false; }
  // The sums over all updates of the task.
  virtual Report Finish(const Task& task) = 0;
};

// To be called on the thread that will drive the device or the worker.
using DeviceFactory = std::function<std::unique_ptr<Device>()>;
using WorkerFactory = std::function<std::unique_ptr<Worker>()>;

// When a worker on a device that shares host memory changes the model: layer by layer as Compute
// makes the gradient, if the optimiser allows it, or all at once in Commit. Virtual time needs
// kAtCommit: there an update reads the model when it begins and changes it when it ends.
enum class Writes : std::uint8_t { kAsComputed, kAtCommit };

// A worker that trains and evaluates one job for real. `memory` outlives it.
std::unique_ptr<Worker> MakeWorker(WorkerId id, std::shared_ptr<Device> device, JobMemory& memory,
                                   Writes writes = Writes::kAsComputed);

// A worker for any number of jobs. `memories` outlives it, and knows a job before its first task.
std::unique_ptr<Worker> MakeJobRouter(WorkerId id, std::shared_ptr<Device> device,
                                      const JobMemories& memories,
                                      Writes writes = Writes::kAsComputed);

}  // namespace hogbatch
