// Whether a network fits, found out by arithmetic before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "nn/model_spec.h"
#include "training/devices.h"
#include "training/options.h"
#include "training/train_setup.h"

namespace hogbatch {

// Bytes of host memory that the parameters of a training take, with all copies and the optimiser
// state of threads.
std::int64_t HostBytesToTrain(const TrainOptions& options, const ModelSpec& spec,
                              WorkerCounts workers);

// UserError for a network that needs more memory than the machine has, or one of its GPUs even for
// the smallest batch of --gpu-batch. Returns the most rows an update may have on each device; 0:
// any that the algorithm asks for. options.algorithm must not be "auto" any more.
std::vector<std::int64_t> CheckTrainingFits(const TrainOptions& options, const TrainPlan& plan,
                                            const ModelSpec& spec, const Dataset& data);

// What to tell the user about devices whose memory cuts --gpu-batch, one line each.
std::vector<std::string> MemoryNotes(const TrainOptions& options, const TrainPlan& plan);

// The same for a trained network on GPUs.
void CheckInferenceFits(const std::vector<DeviceChoice>& devices, const ModelSpec& spec);

}  // namespace hogbatch
