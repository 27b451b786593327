// Short runs of real workers on few rows, with the books kept, for devices that fail.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/ledger/row_ledger.h"
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
    const TrainingInput input = MakeInput(train_rows, 8, kFeatures, storage);
    const TrainingPlan plan{
        .work = {.model = {.inputs = kFeatures,
                           .hidden = {6},
                           .outputs = 2,
                           .activation = Activation::kTanh,
                           .sparse_input = input.training.data.is_sparse},
                 .optimizer = optimizer,
                 .explicit_momentum = optimizer.momentum,
                 .merge_rows = merge_rows,
                 .devices = Devices()},
        .algorithm = algorithm,
        .batches = algorithm_options,
        .learning_rate = {.lr = 0.05, .lr_schedule = "constant"},  // every update changes the model
        .init = Initialization::kHe,
        .rules = Rules(epochs)};
    TrainingRun run(plan, input);
    const std::vector<CostModel> costs(workers.size(), {.seconds_per_row = 1e-4});
    Drive(time, run.coordinator(), WatchedWorkers(run, time), costs, recorder);
    result = run.coordinator().Result();
    model = ModelOf(run);
  }

  std::vector<DeviceChoice> Devices() const {
    std::vector<DeviceChoice> devices;
    for (const WorkerSetup& worker : workers) devices.push_back({worker.info, worker.make});
    return devices;
  }

  // The workers of the run, decorated, with the books kept.
  std::vector<WorkerFactory> WatchedWorkers(TrainingRun& run, Time time) {
    std::vector<WorkerFactory> factories = run.Workers(WritesIn(time));
    for (std::size_t i = 0; i < factories.size(); ++i) {
      const WorkerSetup& setup = workers[i];
      const bool alone = time == Time::kVirtual || (workers.size() == 1 && !setup.writes_early);
      factories[i] = [this, make = factories[i], &setup, &run, alone] {
        using enum RowLedger::Company;
        std::unique_ptr<Worker> worker = make();
        if (setup.decorate) worker = setup.decorate(std::move(worker));
        return ledger.Watch(std::move(worker), run.memory(), alone ? kAlone : kOthers);
      };
    }
    return factories;
  }
};

}  // namespace hogbatch
