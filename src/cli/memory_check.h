// Whether a network fits, found out by arithmetic before anything is allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/devices.h"
#include "cli/options.h"
#include "cli/train_setup.h"
#include "datasets/dataset.h"
#include "nn/model_spec.h"

namespace hogbatch {

// Bytes of host memory that the parameters of a training take, with all copies and the optimiser
// state of threads.
std::int64_t HostBytesToTrain(const TrainOptions& options, const ModelSpec& spec,
                              WorkerCounts workers);

// UserError for a network that needs more memory than the machine, or one of its GPUs, has.
void CheckTrainingFits(const TrainOptions& options, const TrainPlan& plan, const ModelSpec& spec,
                       const Dataset& data);

// The same for a trained network on GPUs.
void CheckInferenceFits(const std::vector<DeviceChoice>& devices, const ModelSpec& spec);

}  // namespace hogbatch
