// The first steps of a training on one device alone, for comparing devices with each other: the
// same rows, weights and rates whatever the device. Comparisons to the last digits need a smooth
// activation: at the kink of a ReLU rounding decides about a slope, and two trainings part there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/evaluation.h"
#include "datasets/dataset.h"
#include "device/device.h"
#include "nn/learning_rate.h"
#include "nn/model_spec.h"
#include "nn/optimizer.h"

namespace hogbatch {

// kOwn: the worker updates by itself. kCommon: it holds each gradient for a synchronous round of
// one.
enum class Stepping : std::uint8_t { kOwn, kCommon };

struct ParityOptions {
  OptimizerOptions optimizer = {};  // all of its momentum is applied
  LearningRateOptions rate = {};    // lr 0: what suits the loss
  std::vector<float> class_weights = {};
  std::int64_t batch_size = 64;
  std::uint64_t seed = 1;  // of the starting weights and of the order of the rows
  int steps = 100;
  Stepping stepping = Stepping::kOwn;
};

struct ParityResult {
  std::vector<double> losses;  // of each step: mean over its rows, before its update
  std::vector<float> weights;  // after the last
  EvaluationSums evaluation;   // of those: validation rows, else training rows
};

// Trains as one worker would. The device is made, used and destroyed on the calling thread.
ParityResult TrainUpdates(const TrainingData& training, const ModelSpec& spec,
                          const ParityOptions& options,
                          const std::function<std::unique_ptr<Device>()>& make_device);

}  // namespace hogbatch
