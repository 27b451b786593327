#include "nn/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/error.h"
#include "nn/optimizer.h"

namespace hogbatch {
namespace {

LearningRateOptions Flat() {
  LearningRateOptions options;
  options.lr = 0.1;
  options.lr_scaling = "none";
  options.lr_schedule = "constant";
  return options;
}

TEST(LearningRate, HoldsTheRateAtTheBatchItWasGivenFor) {
  for (const char* scaling : {"none", "sqrt", "linear"}) {
    LearningRateOptions options = Flat();
    options.lr_scaling = scaling;
    EXPECT_FLOAT_EQ(LearningRate(options, 10).At(3, 16), 0.1f);
  }
}

TEST(LearningRate, ScalesWithTheRowsOfAnUpdate) {
  LearningRateOptions options = Flat();
  EXPECT_FLOAT_EQ(LearningRate(options, 10).At(0, 64), 0.1f);
  options.lr_scaling = "sqrt";
  EXPECT_FLOAT_EQ(LearningRate(options, 10).At(0, 64), 0.2f);
  EXPECT_FLOAT_EQ(LearningRate(options, 10).At(0, 4), 0.05f);
  options.lr_scaling = "linear";
  EXPECT_FLOAT_EQ(LearningRate(options, 10).At(0, 64), 0.4f);
}

TEST(LearningRate, ClampsTheScaleOnBothSides) {
  LearningRateOptions options = Flat();
  options.lr_scaling = "linear";
  options.lr_scale_max = 8;
  EXPECT_FLOAT_EQ(LearningRate(options, 10).At(0, 100000), 0.8f);
  EXPECT_FLOAT_EQ(LearningRate(options, 10).At(0, 1), 0.0125f);
}

TEST(LearningRate, LowersTheRateOfStaleLargeUpdates) {
  LearningRateOptions options = Flat();
  options.lr_scaling = "linear";
  const LearningRate plan(options, 10);
  EXPECT_FLOAT_EQ(plan.At(0, 128, 64), 0.8f) << "four of the largest updates do no harm";
  EXPECT_FLOAT_EQ(plan.At(0, 128, 256), 0.2f);
  EXPECT_FLOAT_EQ(plan.At(0, 128, 1000), 0.1f) << "never less than --lr";
  EXPECT_FLOAT_EQ(plan.At(0, 4, 1000), 0.025f) << "small updates are left alone";
  EXPECT_EQ(LearningRate(options, 1).UpdatesAtOnce(1, 1e9), 1);
  options.no_staleness_correction = true;
  EXPECT_FLOAT_EQ(LearningRate(options, 10).At(0, 128, 1000), 0.8f);
}

TEST(LearningRateOptions, ChooseTheLargestScaleByTheLoss) {
  LearningRateOptions options;
  const auto scale_max = [&](Loss loss) {
    return options.ChosenFor(loss, OptimizerKind::kSgd).lr_scale_max;
  };
  EXPECT_EQ(scale_max(Loss::kSoftmax), 16);
  EXPECT_EQ(scale_max(Loss::kSquared), 8);
  EXPECT_EQ(scale_max(Loss::kSigmoid), 2);
  options.lr_scale_max = 5;
  EXPECT_EQ(scale_max(Loss::kSigmoid), 5);
  options.lr_scale_max = 0.5;
  EXPECT_THROW(scale_max(Loss::kSoftmax), UserError);
}

TEST(LearningRateOptions, ChooseTheRateByLossAndOptimizer) {
  LearningRateOptions options;
  EXPECT_EQ(options.ChosenFor(Loss::kSoftmax, OptimizerKind::kSgd).lr, 0.05);
  EXPECT_EQ(options.ChosenFor(Loss::kSquared, OptimizerKind::kSgd).lr, 0.005);
  for (const Loss loss : {Loss::kSoftmax, Loss::kSigmoid, Loss::kSquared}) {
    EXPECT_EQ(options.ChosenFor(loss, OptimizerKind::kAdam).lr, 0.001);
  }
  options.lr = 0.3;
  EXPECT_EQ(options.ChosenFor(Loss::kSoftmax, OptimizerKind::kAdam).lr, 0.3);
}

TEST(LearningRate, FollowsEverySchedule) {
  LearningRateOptions options = Flat();
  options.lr_decay = 0.5;
  options.lr_step = 3;
  const auto at = [&](const char* schedule, double epoch) {
    options.lr_schedule = schedule;
    return LearningRate(options, 10).At(epoch, 16);
  };
  EXPECT_FLOAT_EQ(at("constant", 7), 0.1f);
  EXPECT_FLOAT_EQ(at("inverse", 2), 0.05f);
  EXPECT_FLOAT_EQ(at("cosine", 0), 0.1f);
  EXPECT_FLOAT_EQ(at("cosine", 5), 0.05f);
  EXPECT_NEAR(at("cosine", 10), 0, 1e-8);
  EXPECT_NEAR(at("cosine", 11), 0, 1e-8) << "the rate does not rise again after the last epoch";
  EXPECT_FLOAT_EQ(at("step", 2.9), 0.1f);
  EXPECT_FLOAT_EQ(at("step", 3), 0.05f);
  EXPECT_FLOAT_EQ(at("step", 6.5), 0.025f);
}

TEST(LearningRate, WarmsUpInAStraightLineFromAHundredth) {
  LearningRateOptions options = Flat();
  options.warmup = 2;
  const LearningRate plan(options, 10);
  EXPECT_FLOAT_EQ(plan.At(0, 16), 0.001f);
  EXPECT_FLOAT_EQ(plan.At(1, 16), 0.0505f);
  EXPECT_FLOAT_EQ(plan.At(2, 16), 0.1f);
  EXPECT_FLOAT_EQ(plan.At(9, 16), 0.1f);
}

TEST(LearningRate, RefusesWordsItDoesNotKnow) {
  LearningRateOptions options = Flat();
  options.lr_schedule = "linear";
  EXPECT_THROW(LearningRate(options, 10), UserError);
  options = Flat();
  options.lr_scaling = "square";
  EXPECT_THROW(LearningRate(options, 10), UserError);
}

TEST(ExplicitMomentum, IsWhatAsynchronyLeavesToDo) {
  EXPECT_DOUBLE_EQ(ExplicitMomentum(0.9, 1), 0.9);
  EXPECT_NEAR(ExplicitMomentum(0.9, 2), 0.8, 1e-12);
  EXPECT_NEAR(ExplicitMomentum(0.9, 8), 0.2, 1e-12);
  EXPECT_EQ(ExplicitMomentum(0.9, 48), 0);
  EXPECT_EQ(ExplicitMomentum(0, 4), 0);
}

// Collects what an options struct declares.
class Declarations : public OptionVisitor {
 public:
  void Group(std::string_view) override {}
  void Flag(std::string_view name, bool& value, std::string_view help) override {
    Add(name, help, value ? "true" : "false");
  }
  void Number(std::string_view name, std::int64_t& value, Range range,
              std::string_view help) override {
    Add(name, help, std::to_string(value));
    EXPECT_TRUE(range.min <= static_cast<double>(value) && static_cast<double>(value) <= range.max);
  }
  void Number(std::string_view name, double& value, Range range, std::string_view help) override {
    Add(name, help, std::to_string(value));
    EXPECT_TRUE(range.min <= value && value <= range.max) << name;
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>&, Range,
               std::string_view help) override {
    Add(name, help, "");
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view help) override {
    Add(name, help, value);
    EXPECT_NE(std::find(words.words.begin(), words.words.end(), value), words.words.end()) << name;
  }
  void Text(std::string_view name, std::string& value, std::string_view,
            std::string_view help) override {
    Add(name, help, value);
  }

  std::map<std::string, std::string> found;

 private:
  void Add(std::string_view name, std::string_view help, std::string value) {
    EXPECT_FALSE(help.empty() || help.ends_with('.')) << name;
    EXPECT_TRUE(found.emplace(name, std::move(value)).second) << name << " is declared twice";
  }
};

TEST(Options, AreDeclaredOnceWithDefaultsInTheirRanges) {
  Declarations declarations;
  LearningRateOptions rates;
  OptimizerOptions optimizer;
  rates.Visit(declarations);
  optimizer.Visit(declarations);
  for (const char* name :
       {"lr", "lr-batch", "lr-scaling", "lr-scale-max", "lr-schedule", "lr-decay", "lr-step",
        "warmup", "optimizer", "momentum", "no-momentum-correction", "weight-decay", "adam-beta1",
        "adam-beta2", "adam-epsilon"}) {
    EXPECT_EQ(declarations.found.count(name), 1u) << name;
  }
  EXPECT_EQ(declarations.found.size(), 16u);
  EXPECT_EQ(declarations.found["lr-batch"], "16");
}

TEST(LearningRate, MergesSmallUpdatesTogetherUpToTheLargestRate) {
  const LearningRate plan({.lr = 0.1, .lr_batch = 16, .lr_scale_max = 16}, 1);
  EXPECT_EQ(plan.UpdatesAtOnce(16, 0), 16);
  EXPECT_EQ(plan.UpdatesAtOnce(4, 0), 64);
  EXPECT_EQ(plan.UpdatesAtOnce(64, 64), 4) << "this staleness does no harm";
  EXPECT_EQ(plan.UpdatesAtOnce(16, 256), 4) << "four times the harmless staleness";
  EXPECT_EQ(plan.UpdatesAtOnce(512, 0), 1);
  EXPECT_EQ(plan.UpdatesAtOnce(16, std::numeric_limits<double>::infinity()), 1);
}

}  // namespace
}  // namespace hogbatch
