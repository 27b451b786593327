// A small training in virtual time: exact, so that all runs of one plan end with the same bits.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "runtime/executors/executor.h"
#include "tests/support/strict_device.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/checkpoint/json_state.h"
#include "training/train.h"

namespace hogbatch {

class Warnings final : public RunObserver {
 public:
  void OnWarning(std::string_view sentence) override { told.emplace_back(sentence); }
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view what) override {
    ADD_FAILURE() << "a worker failed: " << what;
  }

  std::vector<std::string> told;
};

// Takes a checkpoint whenever another `every` rows are trained: where the run stands decides, not
// the time, so that a resumed run takes the same ones.
class EveryRows final : public CheckpointKeeper {
 public:
  EveryRows(TrainingRun& run, std::int64_t every) : run_(run), every_(every) {}

  bool IsDue(double) override {
    return run_.coordinator().Result().totals.examples / every_ != taken_;
  }
  void Take(JobRun& job) override {
    JobMemory& memory = run_.memory();
    Checkpoint checkpoint{
        .texts = {.options = "{}", .data = "rows", .control = StateToJson([&](StateVisitor& v) {
                                                     job.VisitState(v);
                                                   })},
        .weights = memory.saved_weights,
        .best = {},
        .workers = {memory.saved_workers.begin(), memory.saved_workers.end()}};
    if (const auto best = job.saved_snapshot()) {
      const auto floats = memory.snapshots[*best].span();
      checkpoint.best.assign(floats.begin(), floats.end());
    }
    taken.push_back(checkpoint);
    Resume();
  }
  void Resume() { taken_ = run_.coordinator().Result().totals.examples / every_; }

  std::vector<Checkpoint> taken;

 private:
  TrainingRun& run_;
  std::int64_t every_;
  std::int64_t taken_ = 0;
};

inline const OptimizerOptions kSgd{}, kMomentum{.momentum = 0.9}, kDecay{.weight_decay = 0.01},
    kAdam{.optimizer = "adam"}, kAdamW{.optimizer = "adam", .weight_decay = 0.01};

struct Case {
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.algorithm; }

  std::string algorithm;
  OptimizerOptions optimizer;
  std::int64_t nonzeros = 0;  // 0: dense rows
  int distant = 0;            // so many devices share no host memory
  double lr = 0;              // 0: one that suits
};

class SmallTraining {
 public:
  explicit SmallTraining(const Case& setup) : setup_(setup) {
    input_.training = MakeSynthetic({.rows = 3000,
                                     .features = setup.nonzeros > 0 ? 200 : 20,
                                     .nonzeros = setup.nonzeros,
                                     .valid_fraction = 0.1});
    const Dataset& data = input_.training.data;
    plan_.work.model = {
        .inputs = data.features, .hidden = {24, 16}, .outputs = 2, .sparse_input = data.is_sparse};
    plan_.work.optimizer = setup.optimizer;
    plan_.work.explicit_momentum = setup.optimizer.momentum;
    const bool has_state = setup.optimizer.optimizer == "adam" || setup.optimizer.momentum > 0;
    plan_.work.merge_rows = has_state ? 1 : 64;
    for (int i = 0; i < 3; ++i) AddDevice(i, i + setup.distant >= 3);
    plan_.algorithm = setup.algorithm;
    plan_.batches.cpu_batch = {1, 64};
    plan_.batches.gpu_batch = {4, 256};
    plan_.learning_rate = {.lr = setup.optimizer.optimizer == "adam" ? 0.001 : 0.05,
                           .lr_scale_max = 4};
    if (setup.lr > 0) plan_.learning_rate.lr = setup.lr;
    plan_.rules = {.epochs = 3, .target_loss = {}, .eval_every = 0.5};
  }

  struct Ended {
    std::vector<float> weights;
    std::vector<float> saved;
    std::int64_t examples;
    std::vector<Checkpoint> checkpoints;
    std::vector<std::string> warnings;
    RunResult result;
  };
  Ended Run(const Checkpoint* from = nullptr) {
    TrainingRun run(plan_, input_);
    EveryRows keeper(run, 700);
    if (from) {
      run.Restore(*from);
      keeper.Resume();
    }
    std::vector<WorkerFactory> workers;
    std::vector<CostModel> costs;
    for (std::size_t i = 0; i < plan_.work.devices.size(); ++i) {
      workers.push_back([&run, this, i] {
        return MakeWorker(i, plan_.work.devices[i].make(), run.memory(), Writes::kAtCommit);
      });
      // Irrational ratios: no two merges end at the same time, whose order rounding would decide.
      costs.push_back({.seconds_per_row = 1e-4 * std::sqrt(static_cast<double>(2 * i + 1)),
                       .seconds_per_update = 1e-4});
    }
    Warnings observer;
    MakeVirtualExecutor(workers, costs)->Run(run.coordinator(), observer, &keeper);
    const auto weights = run.memory().store.idle_weights();
    return {.weights = {weights.begin(), weights.end()},
            .saved = run.Finish().model.value_or(SavedModel{}).parameters,
            .examples = run.coordinator().Result().totals.examples,
            .checkpoints = keeper.taken,
            .warnings = observer.told,
            .result = run.coordinator().Result()};
  }

  TrainingPlan plan_{.work = {.model = {}, .devices = {}}, .algorithm = "hogbatch"};

 private:
  void AddDevice(int i, bool distant) {
    const DeviceInfo info{.name = (distant ? "cuda." : "cpu.") + std::to_string(i),
                          .description = "test",
                          .kind = distant ? DeviceKind::kCuda : DeviceKind::kCpu,
                          .depth = distant ? 2 : 1,
                          .shares_host_memory = !distant};
    plan_.work.devices.push_back({info, [info, distant] {
                                    auto device = cpu::MakeDevice(info);
                                    return distant ? MakeStrictDevice(std::move(device))
                                                   : std::move(device);
                                  }});
  }

  Case setup_;
  TrainingInput input_;
};

}  // namespace hogbatch
