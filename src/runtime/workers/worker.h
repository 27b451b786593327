// A worker: one device and its scratch. It is moved by an executor, which lends it a thread or a
// place in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "device/device.h"
#include "messaging/messages.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

class Worker {
 public:
  virtual ~Worker() = default;

  // Once before the first task: whatever a device does at first use, such as compiling kernels. The
  // model stays as it is.
  virtual void Prepare() {}
  // Reads the model and computes merge `merge` of the task. A worker on a device of
  // depth 2 may be asked for the next update before the last one is committed.
  virtual void Compute(const Task& task, int merge) = 0;
  // Merges what Compute made into the model, unless Compute has written it already: see Writes.
  virtual void Commit(const Task& task, int merge) = 0;
  // After one of the two threw: its update has changed part of the model before it broke off.
  virtual bool tore_merge() const { return false; }
  // What all updates of the task add up to.
  virtual Report Finish(const Task& task) = 0;
};

// Makes a device on the thread that will drive it.
using DeviceFactory = std::function<std::unique_ptr<Device>()>;
using WorkerFactory = std::function<std::unique_ptr<Worker>()>;

// When a worker on a device that shares host memory changes the model: layer by layer as Compute
// makes the gradient, if the optimiser allows it, or all at once in Commit. Virtual time needs
// kAtCommit: there an update reads the model when it begins and changes it when it ends.
enum class Writes : std::uint8_t { kAsComputed, kAtCommit };

// A worker that trains and evaluates for real. `memory` outlives it.
std::unique_ptr<Worker> MakeWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory,
                                   Writes writes = Writes::kAsComputed);

}  // namespace hogbatch
