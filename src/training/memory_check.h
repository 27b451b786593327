// Computes whether a training fits into memory, before anything is allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/dataset.h"
#include "training/devices/devices.h"
#include "training/workload.h"

namespace hogbatch {

// Bytes of host memory that the parameters of a training take, with all copies and the optimiser
// state of threads.
std::int64_t HostBytesToTrain(const Workload& work);

// UserError for a network that needs more memory than the machine has or, even with the smallest
// batch, more than one of its GPUs has. Returns the largest batch that each device has room for; 0:
// any.
std::vector<std::int64_t> CheckTrainingFits(const Workload& work, const Dataset& data);

// Bytes that the training takes of each device's memory; 0: it has no memory of its own.
// `largest`: of CheckTrainingFits.
std::vector<std::int64_t> DeviceBytesOf(const Workload& work, const Dataset& data,
                                        const std::vector<std::int64_t>& largest);

// CheckTrainingFits for a trained network on GPUs.
void CheckInferenceFits(const std::vector<DeviceChoice>& devices, const ModelSpec& spec);

}  // namespace hogbatch
