#include "training/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "datasets/synthetic.h"
#include "tests/support/detected_devices.h"
#include "tests/support/observers.h"
#include "training/train.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrainingInput SmallInput() {
  return {.training = MakeSynthetic({.rows = 200, .features = 6, .classes = 3})};
}

Devices Cores(int count) {
  Devices devices;
  for (int i = 0; i < count; ++i) devices.chosen.push_back({Processor(), nullptr});
  return devices;
}

TrainingPlan PlanOf(const TrainingSpec& spec, const Devices& devices = Cores(2)) {
  QuietObserver observer;
  return Plan(spec, SmallInput(), devices, observer);
}

TEST(Plan, SettlesWhatTheSpecLeavesOpen) {
  const TrainingPlan plan = PlanOf({});
  EXPECT_EQ(plan.algorithm, "hogbatch");
  EXPECT_EQ(plan.work.model.inputs, 6);
  EXPECT_THAT(plan.work.model.hidden, ElementsAre(512, 512));
  EXPECT_EQ(plan.work.model.outputs, 3);
  EXPECT_EQ(plan.work.model.loss, Loss::kSoftmax);
  EXPECT_EQ(plan.init, Initialization::kHe) << "relu";
  EXPECT_GT(plan.learning_rate.lr, 0);
  EXPECT_THAT(plan.max_batch_sizes, ElementsAre(0, 0));
  EXPECT_FALSE(plan.adapts());
}

TEST(Plan, EvaluatesSomeOfTheTrainingRows) {
  EXPECT_EQ(EvaluatedRows("auto", 50000, 5000), 10000);
  EXPECT_EQ(EvaluatedRows("auto", 500, 50), 500);
  EXPECT_EQ(EvaluatedRows("auto", 50000, 0), 50000) << "they choose the best model";
  EXPECT_EQ(EvaluatedRows("all", 50000, 5000), 50000);
  EXPECT_EQ(EvaluatedRows("300", 50000, 5000), 300);
  for (const char* wrong : {"0", "-1", "1.5", "some", ""}) {
    EXPECT_THROW(EvaluatedRows(wrong, 50000, 5000), UserError) << wrong;
  }
}

TEST(Plan, OfSynchronousTrainingSaysSo) {
  TrainingSpec spec;
  spec.algorithm = "sync";
  EXPECT_TRUE(PlanOf(spec).work.synchronous);
  EXPECT_FALSE(PlanOf(spec, Cores(1)).work.synchronous) << "one worker waits for no other";
}

TEST(Plan, AppliesOnlyTheMomentumThatAsynchronyDoesNotSupply) {
  TrainingSpec spec;
  spec.optimizer.momentum = 0.9;
  EXPECT_NEAR(PlanOf(spec, Cores(2)).work.explicit_momentum, 0.8, 1e-9);
  spec.optimizer.no_momentum_correction = true;
  EXPECT_NEAR(PlanOf(spec, Cores(2)).work.explicit_momentum, 0.9, 1e-9);
}

TEST(Plan, MergesEveryUpdateOfAnOptimizerWithState) {
  TrainingSpec spec;
  EXPECT_EQ(PlanOf(spec).work.merge_rows, 256);
  spec.optimizer.optimizer = "adam";
  EXPECT_EQ(PlanOf(spec).work.merge_rows, 1);
}

TEST(Plan, OfALinearModelHasNoHiddenLayer) {
  TrainingSpec spec;
  spec.hidden = {0};
  EXPECT_THAT(PlanOf(spec).work.model.hidden, testing::IsEmpty());
}

TEST(Plan, RefusesAStartThatIsAnotherNetwork) {
  TrainingInput input = SmallInput();
  input.start = SavedModel{.spec = {.inputs = 6, .hidden = {5}, .outputs = 3},
                           .schema = input.training.schema,
                           .parameters = {}};
  TrainingSpec spec;
  spec.init = "model.safetensors";
  QuietObserver observer;
  try {
    Plan(spec, input, Cores(1), observer);
    FAIL() << "it was taken";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("try --hidden 5"));
  }
}

}  // namespace
}  // namespace hogbatch
