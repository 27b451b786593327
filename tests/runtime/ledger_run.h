// Short runs of real workers on few rows, with the books kept, for devices that fail.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nn/initialize.h"
#include "tests/runtime/row_ledger.h"
#include "tests/runtime/small_problem.h"

namespace hogbatch {

// Set what matters, then InVirtualTime() or OnThreads().
struct LedgerRun {
  struct WorkerSetup {
    DeviceInfo info;
    DeviceFactory make;
    bool writes_early = false;  // on threads, straight into the model
    // What stands between the worker and the books; empty: nothing.
    std::function<std::unique_ptr<Worker>(std::unique_ptr<Worker>)> decorate = {};
  };
  static constexpr std::int64_t kFeatures = 10;

  std::string algorithm = "hogbatch";
  AlgorithmOptions algorithm_options = {.cpu_batch = {1, 1}, .gpu_batch = {1, 2}};
  Storage storage = Storage::kDense;
  std::int64_t train_rows = 16;  // and some for validation
  std::int64_t merge_rows = 1;
  int epochs = 1;
  OptimizerOptions optimizer = {};
  std::vector<WorkerSetup> workers = {};

  RowLedger ledger{train_rows};
  Recorder recorder = {};
  RunResult result = {};
  std::vector<float> model = {};

  void InVirtualTime() { Run(Time::kVirtual); }
  void OnThreads() { Run(Time::kReal); }

  // The books balance and the model is one.
  void ExpectBalanced() const {
    ledger.ExpectBalanced(result, epochs);
    for (const float w : model) ASSERT_TRUE(std::isfinite(w));
  }

 private:
  void Run(Time time) {
    constexpr std::int64_t kValidRows = 8;
    const Dataset data = MakeRows(train_rows + kValidRows, kFeatures, storage);
    const ModelSpec spec{.inputs = kFeatures,
                         .hidden = {6},
                         .outputs = 2,
                         .activation = Activation::kTanh,
                         .sparse_input = data.is_sparse};
    JobMemory memory(spec, data, nullptr, static_cast<int>(workers.size()));
    std::vector<float> start(memory.store.idle_weights().size());
    Initialize(memory.store.layout(), Initialization::kHe, 5, start);
    memory.SetWeights(start);
    memory.optimizer = optimizer;
    memory.explicit_momentum = optimizer.momentum;

    const RunRules rules = Rules(epochs);
    Coordinator::Setup setup{
        .job = {.id = 0, .model = spec, .train_rows = train_rows},
        .rows = {.train = train_rows, .valid = kValidRows, .test = 0},
        .rules = rules,
        // Constant: every update changes the model.
        .rates = LearningRate({.lr = 0.05, .lr_schedule = "constant"}, rules.epochs),
        .workers = {},
        .merge_rows = merge_rows};
    std::vector<WorkerFactory> factories;
    const std::vector<CostModel> costs(workers.size(), {.seconds_per_row = 1e-4});
    for (const WorkerSetup& wanted : workers) {
      const auto id = static_cast<WorkerId>(factories.size());
      const bool alone = time == Time::kVirtual || (workers.size() == 1 && !wanted.writes_early);
      setup.workers.push_back(wanted.info);
      factories.push_back([this, id, time, alone, &wanted, &memory] {
        using enum RowLedger::Company;
        std::unique_ptr<Worker> worker = MakeWorker(id, wanted.make(), memory, WritesIn(time));
        if (wanted.decorate) worker = wanted.decorate(std::move(worker));
        return ledger.Watch(std::move(worker), memory, alone ? kAlone : kOthers);
      });
    }
    const std::unique_ptr<Algorithm> chosen = MakeAlgorithm(algorithm, algorithm_options);
    Coordinator coordinator(*chosen, setup);
    Drive(time, coordinator, factories, costs, recorder);
    result = coordinator.Result();
    model.assign(memory.store.idle_weights().begin(), memory.store.idle_weights().end());
  }
};

}  // namespace hogbatch
