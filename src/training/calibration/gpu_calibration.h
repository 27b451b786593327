// Calibrates the GPUs of a training (calibration.h) if --gpu-batch asks for it with auto.
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

// `utilization`: the wanted share. The plan must adapt batch sizes. A GPU that cannot be measured
// keeps the plan's smallest batch, and the observer gets a warning.
GpuCalibrations CalibrateGpus(const TrainingPlan& plan, const TrainingInput& input,
                              double utilization, TrainingObserver& observer);

}  // namespace hogbatch
