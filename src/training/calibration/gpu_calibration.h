// Calibrates the GPUs of a training (calibration.h) where --gpu-batch leaves their smallest batch
// to a measurement.
#pragma once

#include <cstdint>
#include <vector>

#include "training/input.h"
#include "training/observer.h"
#include "training/plan.h"

namespace hogbatch {

struct GpuCalibrations {
  std::int64_t smallest_batch = 0;  // that keeps every GPU at the wanted share of its best rate
  std::vector<CalibratedGpu> gpus;
};

// `utilization`: the wanted share. The plan is of a training that adapts batch sizes; a GPU that
// cannot be measured keeps the plan's smallest batch, and the observer is warned.
GpuCalibrations CalibrateGpus(const TrainingPlan& plan, const TrainingInput& input,
                              double utilization, TrainingObserver& observer);

}  // namespace hogbatch
