// A run that is resumed from a checkpoint ends with the same bits as the run that went on. In
// virtual time every run is exact, so all that a checkpoint leaves out shows.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "runtime/executors/executor.h"
#include "tests/support/process.h"
#include "tests/support/strict_device.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/checkpoint/json_state.h"
#include "training/train.h"

namespace hogbatch {
namespace {

class Ignored final : public RunObserver {
 public:
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view what) override {
    ADD_FAILURE() << "a worker failed: " << what;
  }
};

// Takes a checkpoint whenever another `every` rows are trained: where the run stands decides, not
// the time, so that a resumed run takes the same ones.
class EveryRows final : public CheckpointKeeper {
 public:
  EveryRows(TrainingRun& run, std::int64_t every) : run_(run), every_(every) {}

  bool IsDue(double) override {
    return run_.coordinator().Result().totals.examples / every_ != taken_;
  }
  void Take(Coordinator& coordinator) override {
    JobMemory& memory = run_.memory();
    Checkpoint checkpoint{
        .texts = {.options = "{}", .data = "rows", .control = StateToJson([&](StateVisitor& v) {
                                                     coordinator.VisitState(v);
                                                   })},
        .weights = memory.saved_weights,
        .best = {},
        .workers = {memory.saved_workers.begin(), memory.saved_workers.end()}};
    if (const auto best = coordinator.saved_snapshot()) {
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

struct Case {
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.algorithm; }

  std::string algorithm;
  OptimizerOptions optimizer;
  std::int64_t nonzeros = 0;  // 0: dense rows
  int distant = 0;            // so many devices share no host memory
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
    plan_.rules = {.epochs = 3, .target_loss = {}, .eval_every = 0.5};
  }

  struct Ended {
    std::vector<float> weights;
    std::vector<float> saved;
    std::int64_t examples;
    std::vector<Checkpoint> checkpoints;
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
    Ignored observer;
    MakeVirtualExecutor(workers, costs)->Run(run.coordinator(), observer, &keeper);
    const auto weights = run.memory().store.idle_weights();
    return {.weights = {weights.begin(), weights.end()},
            .saved = run.Finish().model->parameters,
            .examples = run.coordinator().Result().totals.examples,
            .checkpoints = keeper.taken};
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

class Resume : public testing::TestWithParam<Case> {};

TEST_P(Resume, EndsWithTheSameBitsFromEveryCheckpoint) {
  SmallTraining training(GetParam());
  const auto whole = training.Run();
  ASSERT_GE(whole.checkpoints.size(), 4u);
  for (std::size_t i = 0; i < whole.checkpoints.size(); ++i) {
    const auto resumed = training.Run(&whole.checkpoints[i]);
    EXPECT_EQ(resumed.examples, whole.examples) << "checkpoint " << i;
    EXPECT_TRUE(resumed.weights == whole.weights) << "checkpoint " << i;
    EXPECT_TRUE(resumed.saved == whole.saved) << "checkpoint " << i;
  }
}

TEST_P(Resume, EndsWithTheSameBitsFromAFile) {
  SmallTraining training(GetParam());
  const auto whole = training.Run();
  const Checkpoint& taken = whole.checkpoints[3];
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/checkpoint.safetensors";
  WriteCheckpoint(path, {.texts = taken.texts,
                         .weights = taken.weights,
                         .best = taken.best,
                         .workers = taken.workers});
  const Checkpoint read = ReadCheckpoint(path);
  EXPECT_TRUE(training.Run(&read).weights == whole.weights);
}

const OptimizerOptions kSgd{}, kMomentum{.momentum = 0.9}, kDecay{.weight_decay = 0.01},
    kAdam{.optimizer = "adam"}, kAdamW{.optimizer = "adam", .weight_decay = 0.01};

INSTANTIATE_TEST_SUITE_P(
    All, Resume,
    testing::Values(Case{"hogbatch", kSgd}, Case{"hogbatch", kMomentum}, Case{"hogbatch", kAdam},
                    Case{"hogbatch", kDecay, 5}, Case{"hogbatch", kAdamW, 5},
                    Case{"adaptive", kSgd, 0, 1}, Case{"adaptive", kAdam, 5, 2},
                    Case{"adaptive", kMomentum, 5, 1}, Case{"sync", kSgd}, Case{"sync", kAdam},
                    Case{"sync", kMomentum, 5, 1}, Case{"sync", kAdamW, 5, 2}),
    [](const testing::TestParamInfo<Case>& tested) {
      const Case& c = tested.param;
      return c.algorithm + "_" + c.optimizer.optimizer +
             (c.optimizer.momentum > 0 ? "_momentum" : "") +
             (c.optimizer.weight_decay > 0 ? "_decay" : "") + (c.nonzeros > 0 ? "_sparse" : "") +
             (c.distant > 0 ? "_" + std::to_string(c.distant) + "distant" : "");
    });

TEST(ResumeWithMoreEpochs, TrainsTheRowsThatAreStillToCome) {
  SmallTraining training({"hogbatch", kSgd});
  const auto whole = training.Run();
  training.plan_.rules.epochs = 5;
  const auto longer = training.Run(&whole.checkpoints.back());
  EXPECT_EQ(longer.examples, whole.examples / 3 * 5);
}

TEST(ResumeOnOtherDevices, KeepsModelAndRowsAndStartsTheWorkersAnew) {
  SmallTraining training({"adaptive", kAdam, 0, 1});
  const auto whole = training.Run();
  training.plan_.work.devices.pop_back();
  const auto resumed = training.Run(&whole.checkpoints[2]);
  EXPECT_EQ(resumed.examples, whole.examples);
}

// The checkpoint with another value at a place of its state.
Checkpoint With(Checkpoint checkpoint, const std::string& place, const std::string& value) {
  auto control = nlohmann::json::parse(checkpoint.texts.control);
  control.at(nlohmann::json::json_pointer(place)) = nlohmann::json::parse(value);
  checkpoint.texts.control = control.dump();
  return checkpoint;
}

TEST(ResumeFromAWrongState, IsRefused) {
  SmallTraining training({"adaptive", kSgd, 0, 1});
  const Checkpoint good = training.Run().checkpoints[2];
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"/job/cursor/handed_out", "-1"},
      {"/job/cursor/handed_out", "9223372036854775807"},
      {"/job/cursor/epoch", "-2"},
      {"/job/cursor/blocks", R"([{"begin":-5,"end":10}])"},
      {"/job/cursor/blocks", R"([{"begin":0,"end":1000000}])"},
      {"/job/cursor/blocks", R"([{"begin":5,"end":5}])"},
      {"/job/cursor/returned", R"([{"rows":{"begin":9,"end":3},"epoch":0}])"},
      {"/job/examples", "-1"},
      {"/job/examples", "1.5"},
      {"/evaluations/best_snapshot/id", "2"},
      {"/evaluations/best_snapshot/id", "4294967296"},
      {"/workers/states", "[]"},
      {"/workers/states/0/updates", "-1"},
      {"/workers/states/0/seconds_per_row", "-1"},
      {"/next_id", "1152921504606846976"},
      {"/meter", "[]"},
  };
  for (const auto& [place, value] : changes) {
    const Checkpoint wrong = With(good, place, value);
    EXPECT_THROW(training.Run(&wrong), UserError) << place << " " << value;
  }
  Checkpoint fewer = good;
  fewer.workers.pop_back();
  EXPECT_THROW(training.Run(&fewer), UserError);
  Checkpoint other = good;
  other.weights.pop_back();
  EXPECT_THROW(training.Run(&other), UserError);
}

TEST(ResumeFromAWrongState, BeginsWithBatchSizesAnewIfThoseDoNotFitTheWorkers) {
  SmallTraining training({"adaptive", kSgd, 0, 1});
  const auto whole = training.Run();
  for (const char* place : {"/algorithm/teams", "/algorithm/holds", "/algorithm/reported"}) {
    const Checkpoint wrong = With(whole.checkpoints[2], place, "[]");
    EXPECT_EQ(training.Run(&wrong).examples, whole.examples) << place;
  }
}

}  // namespace
}  // namespace hogbatch
