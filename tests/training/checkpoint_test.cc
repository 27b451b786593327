// A run that is resumed from a checkpoint ends with the same bits as the run that went on. In
// virtual time every run is exact, so all that a checkpoint leaves out shows.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/process.h"
#include "tests/training/small_training.h"

namespace hogbatch {
namespace {

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

}  // namespace
}  // namespace hogbatch
