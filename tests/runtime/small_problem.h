// A small data set that a network can learn, and whole runs of real workers on it.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "cpu/cpu.h"
#include "device/simulated.h"
#include "nn/initialize.h"
#include "tests/runtime/fakes.h"
#include "tests/support/strict_device.h"

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
      side += x * direction[static_cast<std::size_t>(column)];
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
  int distant = 0;             // so many of the last workers have devices that share no host memory

  Recorder recorder = {};
  RunResult result = {};

  // The model after the run.
  std::vector<float> InVirtualTime() { return Run(Time::kVirtual); }
  std::vector<float> OnThreads() { return Run(Time::kReal); }

 private:
  std::vector<float> Run(Time time) {
    const std::int64_t valid_rows = train_rows / 10;
    const Dataset data = MakeRows(train_rows + valid_rows, 30, storage);
    const ModelSpec spec{.inputs = 30,
                         .hidden = {24, 16},
                         .outputs = 2,
                         .activation = Activation::kRelu,
                         .sparse_input = data.is_sparse};
    const int count = static_cast<int>(seconds_per_row.size());
    JobMemory memory(spec, data, nullptr, count);
    std::vector<float> start(memory.store.idle_weights().size());
    Initialize(memory.store.layout(), Initialization::kHe, 5, start);
    memory.SetWeights(start);
    memory.optimizer = optimizer;
    memory.explicit_momentum = optimizer.momentum;

    Coordinator::Setup setup{.job = {.id = 0, .model = spec, .train_rows = train_rows},
                             .rows = {.train = train_rows, .valid = valid_rows, .test = 0},
                             .rules = rules,
                             .rates = LearningRate(rate, rules.epochs),
                             .workers = {}};
    std::vector<WorkerFactory> factories;
    std::vector<CostModel> costs;
    for (int i = 0; i < count; ++i) {
      costs.push_back({.seconds_per_row = seconds_per_row[static_cast<std::size_t>(i)]});
      const bool is_distant = i + distant >= count;
      setup.workers.push_back({.name = (is_distant ? "cuda." : "cpu.") + std::to_string(i),
                               .description = "test",
                               .kind = is_distant ? DeviceKind::kCuda : DeviceKind::kCpu,
                               .depth = is_distant ? 2 : 1});
      factories.push_back([&, i, is_distant] {
        std::unique_ptr<Device> device =
            cpu::MakeDevice(setup.workers[static_cast<std::size_t>(i)]);
        if (is_distant) device = MakeStrictDevice(std::move(device));
        const std::int64_t fails = i + 1 == count ? fail_call : 0;
        if (fails > 0) device = sim::MakeSimulatedDevice(std::move(device), {.fail_call = fails});
        return MakeWorker(i, std::move(device), memory, WritesIn(time));
      });
    }
    const std::unique_ptr<Algorithm> chosen = MakeAlgorithm(algorithm, algorithm_options);
    Coordinator coordinator(*chosen, setup);
    Drive(time, coordinator, factories, costs, recorder);
    result = coordinator.Result();
    return {memory.store.idle_weights().begin(), memory.store.idle_weights().end()};
  }
};

}  // namespace hogbatch
