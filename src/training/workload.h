// What is trained on which devices: everything that decides the memory of a training and the
// duration of its updates.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithms.h"
#include "nn/model_spec.h"
#include "nn/optimizer.h"
#include "training/devices/devices.h"

namespace hogbatch {

struct Workload {
  ModelSpec model;
  OptimizerOptions optimizer = {};
  double explicit_momentum = 0;  // the part that asynchrony does not supply (ExplicitMomentum)
  bool synchronous = false;      // all workers contribute to each update
  std::int64_t merge_rows = 1;   // rows behind a merge of a replica, if its updates are smaller
  BatchRange gpu_batch = {};     // the smallest and largest batch that a GPU may be given
  std::vector<DeviceChoice> devices = {};
  std::int64_t host_memory_bytes = 0;  // 0: not known
};

struct WorkerCounts {
  int cpu = 0;
  int gpu = 0;
  int all() const { return cpu + gpu; }
};
WorkerCounts CountWorkers(const std::vector<DeviceChoice>& devices);

}  // namespace hogbatch
