// How long updates of a network take on a device, measured.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/workers/worker.h"
#include "training/calibration.h"

namespace hogbatch {

struct TimedRows {
  std::int64_t train = 0;  // the first so many of the memory are used
  std::int64_t merge = 1;  // updates of fewer are merged several at a time
};

// Times updates of a worker of its own, which it makes on the calling thread, as an executor would
// walk them. `memory` has the starting weights and is changed: it must not be that of a training.
SecondsPerUpdate MakeUpdateTimer(std::unique_ptr<JobMemory> memory, const DeviceFactory& device,
                                 const TimedRows& rows);

}  // namespace hogbatch
