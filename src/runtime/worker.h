// A worker: one device and its scratch. It is moved by an executor, which lends it a thread or a
// place in virtual time.
#pragma once

#include <functional>
#include <memory>

#include "device/device.h"
#include "messaging/messages.h"
#include "runtime/job_memory.h"

namespace hogbatch {

class Worker {
 public:
  virtual ~Worker() = default;

  // Reads the model and makes the gradient of update `update` of the task.
  virtual void Compute(const Task& task, int update) = 0;
  // Merges what Compute made into the model. (Where both happen at once on a shared model, Compute
  // may have written already, layer by layer.)
  virtual void Commit(const Task& task, int update) = 0;
  // What all updates of the task add up to.
  virtual Report Finish(const Task& task) = 0;
};

// Makes a device on the thread that will drive it.
using DeviceFactory = std::function<std::unique_ptr<Device>()>;
using WorkerFactory = std::function<std::unique_ptr<Worker>()>;

// A worker that trains and evaluates for real. `memory` outlives it.
std::unique_ptr<Worker> MakeWorker(WorkerId id, std::unique_ptr<Device> device, JobMemory& memory);

}  // namespace hogbatch
