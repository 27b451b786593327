// Calibrates the GPUs of a training (calibration.h) where --gpu-batch leaves it to a measurement.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "nn/model_spec.h"
#include "runtime/store/job_memory.h"
#include "training/observer.h"
#include "training/options.h"
#include "training/train_setup.h"

namespace hogbatch {

// Makes memory of a job like the one that is to be trained, with its starting weights.
using MemoryFactory = std::function<std::unique_ptr<JobMemory>()>;

// Sets plan.batches.gpu_batch.min where it matters and is to be measured: to what keeps every GPU
// at --min-utilization of its best rate. Returns lines for the user. options.algorithm must not be
// "auto" any more.
std::vector<std::string> CalibrateGpuBatch(const TrainOptions& options, TrainPlan& plan,
                                           const ModelSpec& spec, const TrainingData& training,
                                           const MemoryFactory& make_memory,
                                           TrainingObserver& observer);

}  // namespace hogbatch
