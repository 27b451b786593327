// A worker that trains the lanes of an exclusive job, on any device.
#pragma once

#include <memory>

#include "runtime/workers/worker.h"

namespace hogbatch {

// JobMemory::lanes is not empty. `memory` outlives it.
std::unique_ptr<Worker> MakeLaneWorker(WorkerId id, std::shared_ptr<Device> device,
                                       JobMemory& memory);

}  // namespace hogbatch
