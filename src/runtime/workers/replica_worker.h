// A worker on a device that does not share host memory.
#pragma once

#include <memory>

#include "runtime/workers/worker.h"

namespace hogbatch {

// For each part of a task: rows and a copy of the layers travel to the device, which makes Δ of
// them, in as many updates of the copy as the task says; Δ travels back and is added to the store.
// Of a sparse first layer only the rows that the part touches travel. Compute queues all that,
// Commit waits for it and merges.
std::unique_ptr<Worker> MakeReplicaWorker(WorkerId id, std::unique_ptr<Device> device,
                                          JobMemory& memory);

}  // namespace hogbatch
