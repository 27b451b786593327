// Calibrates the GPUs of a training (calibration.h) if --gpu-batch asks for it with auto.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "runtime/store/job_memory.h"
#include "training/calibration/calibration.h"
#include "training/observer.h"
#include "training/workload.h"

namespace hogbatch {

// A training that adapts batch sizes.
struct AdaptedTraining {
  const Workload& work;
  const TrainingData& data;
  BatchRange gpu_batch;
  std::span<const std::int64_t> max_batch_sizes;            // that each device has room for; 0: any
  std::function<std::unique_ptr<JobMemory>()> make_memory;  // with the starting weights
};

struct GpuCalibrations {
  std::int64_t smallest_batch = 0;  // that keeps every GPU at the wanted share of its best rate
  std::vector<CalibratedGpu> gpus;
};

// `utilization`: the wanted share. A GPU that cannot be measured keeps the smallest batch of
// `gpu_batch`, and the observer gets a warning.
GpuCalibrations CalibrateGpus(const AdaptedTraining& training, double utilization,
                              TrainingObserver& observer);

}  // namespace hogbatch
