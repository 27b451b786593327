// All that runs on more than one thread besides the runtime: reading, checkpoints in the
// background, a training that goes back, prediction, rows of the next job, and what keeps mapped
// rows out of memory. ThreadSanitizer runs it, too.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "tests/support/observers.h"
#include "tests/support/process.h"
#include "training/cache/mapped_file.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/predict.h"
#include "training/queue/shared_inputs.h"
#include "training/train.h"

namespace hogbatch {
namespace {

std::string Rows(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i % 7) + "," + std::to_string(i * i % 11) + "," +
            (i % 7 + i * i % 11 > 8 ? "yes\n" : "no\n");
  }
  return text;
}

class Threads : public testing::TestWithParam<const char*> {
 protected:
  TrainedModel TrainOn(const TrainingSpec& spec, TrainingObserver& observer) const {
    const Devices devices = DevicesToTrain(spec.devices);
    const TrainingInput input = ReadInput(spec, observer);
    const TrainingPlan plan = Plan(spec, input, devices, observer);
    return Train(plan, input, observer,
                 {.keep = KeepOptions{.folder = folder_.path(), .options = "{}", .every = 0.005}});
  }
  TrainingSpec Spec() const {
    TrainingSpec spec;
    spec.data = folder_.path() + "/" + folder_.Write("rows.csv", Rows(6000));
    spec.hidden = {16};
    spec.algorithm = GetParam();
    spec.devices = "cpu:3";
    spec.no_pin = true;
    spec.eval_every = 0.2;
    return spec;
  }

  TemporaryFolder folder_;
};

TEST_P(Threads, TrainWhileCheckpointsAndModelsAreWritten) {
  TrainingSpec spec = Spec();
  spec.optimizer.optimizer = "adam";
  QuietObserver observer;
  const TrainedModel trained = TrainOn(spec, observer);
  EXPECT_EQ(observer.warnings, "");
  const std::vector<std::string> checkpoints = ListCheckpoints(folder_.path());
  ASSERT_FALSE(checkpoints.empty());
  EXPECT_FALSE(ReadCheckpoint(checkpoints.front()).weights.empty());

  const SavedModel saved = LoadModel(folder_.path() + "/model.safetensors");
  EXPECT_TRUE(saved.parameters == trained.model->parameters);
  const TrainingInput input = ReadInput(spec, observer);
  std::atomic<std::int64_t> rows = 0;
  Predict(DevicesToInfer("cpu:3", saved.spec), saved, input.training.data,
          [&](RowRange part, std::span<const float>) { rows += part.size(); });
  EXPECT_EQ(rows, 6000);
}

TEST_P(Threads, GoBackTogetherWhenTrainingDiverges) {
  TrainingSpec spec = Spec();
  spec.learning_rate.lr = 1e12;
  QuietObserver observer;
  const TrainedModel trained = TrainOn(spec, observer);
  EXPECT_EQ(trained.run.stopped_because, StopReason::kDiverged);
  EXPECT_NE(observer.warnings.find("attempt 3 of 3"), std::string::npos) << observer.warnings;
}

// As a queue that watches a folder does for a job that arrives.
TEST_P(Threads, TrainWhileRowsAreReadForAnotherJob) {
  const TrainingSpec spec = Spec();
  QuietObserver observer, reader;
  SharedInputs inputs;
  const auto input = inputs.Read(spec, observer);
  std::future<std::shared_ptr<const TrainingInput>> again =
      std::async(std::launch::async, [&] { return inputs.Read(spec, reader); });
  const Devices devices = DevicesToTrain(spec.devices);
  const TrainingPlan plan = Plan(spec, *input, devices, observer);
  EXPECT_TRUE(Train(plan, *input, observer, {}).model);
  EXPECT_EQ(again.get(), input);
}

TEST(MappedRows, LeaveMemoryWhenNobodyReadsThem) {
  const TemporaryFolder folder;
  const std::string path =
      folder.path() + "/" + folder.Write("large", std::string(std::size_t{96} << 20, 'x'));
  const MappedFile file(path, std::size_t{1} << 20);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < file.bytes().size(); i += 4096) {
    sum += static_cast<std::size_t>(file.bytes()[i]);
  }
  EXPECT_EQ(sum, file.bytes().size() / 4096 * 'x');
  const auto resident = [] {
    std::size_t size = 0, all = 0, shared = 0;
    std::ifstream("/proc/self/statm") >> size >> all >> shared;
    return shared * 4096;
  };
  // Nobody reads it any more, so that soon nothing of it is left.
  for (int i = 0; i < 1000 && resident() > (std::size_t{80} << 20); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LT(resident(), std::size_t{80} << 20);
}

INSTANTIATE_TEST_SUITE_P(All, Threads, testing::Values("hogbatch", "adaptive", "sync"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace hogbatch
