// How long updates of a network take on a device, measured.
#pragma once

#include <cstdint>
#include <memory>

#include "cli/calibration.h"
#include "runtime/worker.h"

namespace hogbatch {

// Times updates of a worker of its own, which it makes on the calling thread, as an executor would
// walk them. `memory` has the starting weights and is changed: it must not be that of a training.
// Its first `train_rows` rows are used.
SecondsPerUpdate MakeUpdateTimer(std::unique_ptr<JobMemory> memory, const DeviceFactory& device,
                                 std::int64_t train_rows);

}  // namespace hogbatch
