// A training with all choices made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/algorithms.h"
#include "nn/initialize.h"
#include "nn/learning_rate.h"
#include "runtime/control/stop_rules.h"
#include "runtime/executors/executor.h"
#include "runtime/store/job_memory.h"
#include "training/calibration/calibration.h"
#include "training/devices/devices.h"
#include "training/input.h"
#include "training/observer.h"
#include "training/spec.h"
#include "training/workload.h"

namespace hogbatch {

// What a lane has for itself (nn/lanes/lanes.h).
struct LanePlan {
  LearningRateOptions learning_rate = {};
  OptimizerOptions optimizer = {};
  std::vector<float> class_weights = {};
  Initialization init = Initialization::kXavier;
  RunRules rules = {};
  std::uint64_t seed = 1;
};

// Made whole and never changed.
struct TrainingPlan {
  Workload work;
  std::string algorithm;  // a name, never "auto"
  AlgorithmOptions batches = {};
  std::vector<std::int64_t> max_batch_sizes = {};  // that each device has room for; 0: any
  std::vector<CalibratedGpu> calibrated = {};
  Merge merge = kUsualMerge;
  LearningRateOptions learning_rate = {};
  std::vector<float> class_weights = {};
  Initialization init = Initialization::kXavier;  // unless the input has a model to start from
  RunRules rules = {};
  std::optional<std::int64_t> evaluated_train_rows = {};  // none: all
  Pinning pinning = Pinning::kCores;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> order_seed = {};  // of the order of the rows; none: seed
  std::vector<LanePlan> lanes = {};              // that are trained together; empty: one network

  // Whether batch sizes will change. With a single team there is nothing to balance.
  bool adapts() const;
};

// One training of several that differ only in what a lane has for itself. They see the same rows in
// the same order. UserError if they do not fit into memory together.
TrainingPlan FuseLanes(std::span<const TrainingPlan> plans, const TrainingInput& input);

// Settings of a trial that are not options.
struct TrialPlacement {
  double pause_epoch = RunRules().pause_epoch;              // RunRules
  std::int64_t most_rollbacks = RunRules().most_rollbacks;  // RunRules
  std::optional<std::uint64_t> order_seed = {};             // TrainingPlan
};

// The choices for a spec that Validate passed, its input and the devices to train on. Measures the
// GPUs if --gpu-batch is auto. UserError for choices that contradict each other or do not fit into
// memory.
TrainingPlan Plan(const TrainingSpec& spec, const TrainingInput& input, const Devices& devices,
                  TrainingObserver& observer, const TrialPlacement& placement = {});

// The options as the plan uses them: with the algorithm and the learning rate that it chose.
TrainingSpec UsedSpec(const TrainingSpec& spec, const TrainingPlan& plan);

}  // namespace hogbatch
