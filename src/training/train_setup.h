// What a training is made of, from options and data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithms.h"
#include "datasets/dataset.h"
#include "nn/model_spec.h"
#include "runtime/control/progress.h"
#include "runtime/control/stop_rules.h"
#include "runtime/store/job_memory.h"
#include "training/devices.h"
#include "training/model_file.h"
#include "training/options.h"

namespace hogbatch {

// What options say by themselves: wrong ones are found before a large file is read. What
// --algorithm auto means is for the caller to ask (ChooseAlgorithm).
struct TrainPlan {
  std::vector<DeviceChoice> devices;
  std::int64_t host_memory_bytes = 0;  // 0: not known
  AlgorithmOptions batches;
  bool calibrate_gpu_batch = false;  // batches.gpu_batch.min is to be measured
  std::vector<std::int64_t>
      max_batch_size;  // that each device has room for; 0: any (memory_check.h)
  RunRules rules;
  std::vector<std::int64_t> hidden;
  std::optional<SavedModel> start;  // --init FILE
};
TrainPlan MakePlan(const TrainOptions& options);

struct WorkerCounts {
  int cpu = 0;
  int gpu = 0;
  int all() const { return cpu + gpu; }
};
WorkerCounts CountWorkers(const TrainPlan& plan);
// Whether rows per update may change: there is nothing to balance within one team. The algorithm is
// not "auto" any more.
bool Adapts(const TrainOptions& options, const TrainPlan& plan);

ModelSpec MakeSpec(const TrainOptions& options, const TrainPlan& plan,
                   const TrainingData& training);

// The explicit part of --momentum (see ExplicitMomentum).
double MomentumToApply(const TrainOptions& options, int workers);

// What --merge-rows comes to: optimisers with state merge every update by itself.
std::int64_t MergeRows(const TrainOptions& options, const ModelSpec& spec, int workers);

// A flat array of Layout(spec). Moves it out of plan.start, where there is one.
std::vector<float> TakeStartingWeights(const TrainOptions& options, TrainPlan& plan,
                                       const ModelSpec& spec, const Schema& schema);

// Fills result.parameters when all workers have ended: from the snapshot that the run holds best,
// else from the model as it is, which also goes before the snapshot where the last worker failed
// and the model is newer. Empty when they are not all finite, or nobody has made a model: training
// diverged before an evaluation, or failed before an update. result.saved is what is known of them.
void ChooseParameters(const JobMemory& memory, std::optional<SnapshotId> snapshot,
                      RunResult& result);

}  // namespace hogbatch
