// A worker on a device that does not share host memory.
#pragma once

#include <memory>

#include "runtime/workers/worker.h"

namespace hogbatch {

// For each merge of a task, rows and a copy of the model are uploaded. The device makes Δ in
// Task::updates_per_merge updates of the copy; Δ is downloaded and added to the store. Of a sparse
// first layer only the touched rows are transferred. Compute queues all that; Commit waits for it
// and merges.
std::unique_ptr<Worker> MakeReplicaWorker(WorkerId id, std::shared_ptr<Device> device,
                                          JobMemory& memory);

}  // namespace hogbatch
