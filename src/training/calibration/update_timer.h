// Measures how long updates of a network take on a device.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/workers/worker.h"
#include "training/calibration/calibration.h"

namespace hogbatch {

struct TimedRows {
  std::int64_t train = 0;  // rows to train on: the first of the memory's data
  std::int64_t merge = 1;  // rows per merge, for updates that are smaller
};

// Times updates as an executor runs them, on a worker of its own and on the calling thread.
// `memory` holds the starting weights. The timer changes them, so it must not be the memory of a
// training.
SecondsPerUpdate MakeUpdateTimer(std::unique_ptr<JobMemory> memory, const DeviceFactory& device,
                                 const TimedRows& rows);

}  // namespace hogbatch
