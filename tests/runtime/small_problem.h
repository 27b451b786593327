// A small data set that a network can learn, and whole runs of real workers on it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "cpu/cpu.h"
#include "device/simulated.h"
#include "tests/runtime/fakes.h"
#include "tests/support/strict_device.h"
#include "training/train.h"

namespace hogbatch {

// Two classes by the sign of a random direction; about a third of the entries are not zero.
inline Dataset MakeRows(std::int64_t rows, std::int64_t features, Storage storage) {
  Random random(11);
  std::vector<double> direction;
  for (std::int64_t i = 0; i < features; ++i) direction.push_back(random.Normal());
  Dataset data{.source = "made up", .rows = rows, .features = features};
  data.is_sparse = storage == Storage::kSparse;
  data.offsets.push_back(0);
  for (std::int64_t row = 0; row < rows; ++row) {
    double side = 0;
    for (std::int64_t column = 0; column < features; ++column) {
      const float x = random.Uniform() < 0.3 ? static_cast<float>(random.Normal()) : 0.0f;
      side += x * direction[column];
      data.dense.push_back(x);
      if (x == 0) continue;
      data.columns.push_back(static_cast<std::int32_t>(column));
      data.values.push_back(x);
    }
    data.offsets.push_back(static_cast<std::int64_t>(data.columns.size()));
    data.classes.push_back(side > 0);
  }
  if (data.is_sparse) {
    data.dense.clear();
  } else {
    data.offsets.clear();
    data.columns.clear();
    data.values.clear();
  }
  return data;
}

// The same as the input of a training.
inline TrainingInput MakeInput(std::int64_t train_rows, std::int64_t valid_rows,
                               std::int64_t features, Storage storage) {
  return {.training = {.data = MakeRows(train_rows + valid_rows, features, storage),
                       .schema = {},
                       .train_rows = train_rows}};
}

// The model after a run.
inline std::vector<float> ModelOf(TrainingRun& run) {
  const std::span<const float> weights = run.memory().store.idle_weights();
  return {weights.begin(), weights.end()};
}

inline Writes WritesIn(Time time) {
  return time == Time::kVirtual ? Writes::kAtCommit : Writes::kAsComputed;
}

// A run of real workers: set what matters, then InVirtualTime() or OnThreads().
struct SmallRun {
  std::string algorithm = "hogbatch";
  AlgorithmOptions algorithm_options = {};
  Storage storage = Storage::kDense;
  std::int64_t train_rows = 2000;                      // and a tenth of that for validation
  std::vector<double> seconds_per_row = {1e-4, 1e-4};  // one a worker
  OptimizerOptions optimizer = {};
  LearningRateOptions rate = {.lr = 0.05};
  RunRules rules = Rules(3);
  std::int64_t fail_call = 0;  // of the last worker's device
  int distant = 0;             // the number of last workers whose devices share no host memory

  Recorder recorder = {};
  RunResult result = {};

  // The model after the run.
  std::vector<float> InVirtualTime() { return Run(Time::kVirtual); }
  std::vector<float> OnThreads() { return Run(Time::kReal); }

 private:
  std::vector<float> Run(Time time) {
    const TrainingInput input = MakeInput(train_rows, train_rows / 10, 30, storage);
    const TrainingPlan plan{.work = {.model = {.inputs = 30,
                                               .hidden = {24, 16},
                                               .outputs = 2,
                                               .activation = Activation::kRelu,
                                               .sparse_input = input.training.data.is_sparse},
                                     .optimizer = optimizer,
                                     .explicit_momentum = optimizer.momentum,
                                     .devices = Devices()},
                            .algorithm = algorithm,
                            .batches = algorithm_options,
                            .learning_rate = rate,
                            .init = Initialization::kHe,
                            .rules = rules,
                            .seed = 5};
    TrainingRun run(plan, input);
    std::vector<CostModel> costs;
    for (const double seconds : seconds_per_row) costs.push_back({.seconds_per_row = seconds});
    Drive(time, run.coordinator(), run.Workers(WritesIn(time)), costs, recorder);
    result = run.coordinator().Result();
    return ModelOf(run);
  }

  std::vector<DeviceChoice> Devices() const {
    std::vector<DeviceChoice> devices;
    const auto count = std::ssize(seconds_per_row);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const bool is_distant = i + distant >= count;
      const DeviceInfo info{.name = (is_distant ? "cuda." : "cpu.") + std::to_string(i),
                            .description = "test",
                            .kind = is_distant ? DeviceKind::kCuda : DeviceKind::kCpu,
                            .depth = is_distant ? 2 : 1};
      const std::int64_t fails = i + 1 == count ? fail_call : 0;
      devices.push_back({info, [=] {
                           std::unique_ptr<Device> device = cpu::MakeDevice(info);
                           if (is_distant) device = MakeStrictDevice(std::move(device));
                           if (fails == 0) return device;
                           return sim::MakeSimulatedDevice(std::move(device), {.fail_call = fails});
                         }});
    }
    return devices;
  }
};

}  // namespace hogbatch
