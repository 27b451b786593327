#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/error.h"
#include "training/spec.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

// Why a spec that differs from the usual one by `change` is refused.
std::string WhyNot(const std::function<void(TrainingSpec&)>& change) {
  TrainingSpec spec;
  change(spec);
  try {
    Validate(spec);
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was taken";
}

TEST(Validate, TakesTheDefaults) { EXPECT_NO_THROW(Validate({})); }

TEST(ReadingOptions, RefuseWordsTheyDoNotKnow) {
  EXPECT_FALSE(ReadingOptions().Parse().fills_columns);
  EXPECT_TRUE(ReadingOptions{.missing_columns = "fill"}.Parse().fills_columns);
  EXPECT_THROW((ReadingOptions{.missing_columns = "skip"}.Parse()), UserError);
  EXPECT_THROW((ReadingOptions{.format = "xls"}.Parse()), UserError);
}

TEST(Validate, HoldsEveryValueAgainstItsRange) {
  EXPECT_EQ(WhyNot([](TrainingSpec& spec) { spec.epochs = -1; }),
            "--epochs must be between 0 and 1e+06, not -1");
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.epochs = std::nan(""); }),
              HasSubstr("--epochs must be between"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.hidden = {8, -8}; }), HasSubstr("--hidden"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.optimizer.momentum = 1.5; }),
              HasSubstr("--momentum"));
}

TEST(Validate, HoldsEveryWordAgainstThoseThatThereAre) {
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.merge = "overwite"; }),
              HasSubstr("did you mean overwrite?"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.activation = "rely"; }),
              HasSubstr("did you mean relu?"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.algorithm = "hogbach"; }),
              HasSubstr("did you mean hogbatch?"));
}

TEST(Validate, FindsOptionsThatContradictEachOther) {
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) {
                spec.optimizer.optimizer = "adam";
                spec.optimizer.momentum = 0.9;
              }),
              HasSubstr("--momentum"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) {
                spec.loss = "squared";
                spec.class_weights = "balanced";
              }),
              HasSubstr("--class-weights"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) {
                spec.loss = "sigmoid";
                spec.positive = "2";
              }),
              HasSubstr("--positive"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.hidden = {8, 0}; }), HasSubstr("--hidden"));
}

TEST(Validate, ReadsTextsThatAreMoreThanOneValue) {
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.batch.cpu_batch = "64:1"; }),
              HasSubstr("did you mean 1:64?"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.batch.gpu_batch = "4:auto"; }),
              HasSubstr("--gpu-batch"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.max_time = "2d"; }), HasSubstr("--max-time"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.class_weights = "balancd"; }),
              HasSubstr("--class-weights takes none, balanced or"));
  EXPECT_THAT(WhyNot([](TrainingSpec& spec) { spec.init = "xavjer"; }),
              HasSubstr("did you mean xavier?"));
}

TEST(SetOption, ReadsEveryKindOfValueByName) {
  TrainingSpec spec;
  SetOption(spec, "epochs", "2.5");
  SetOption(spec, "hidden", "3,4");
  SetOption(spec, "seed", "7");
  SetOption(spec, "activation", "tanh");
  SetOption(spec, "no-pin", "true");
  SetOption(spec, "test", "other.csv");
  EXPECT_EQ(spec.epochs, 2.5);
  EXPECT_EQ(spec.hidden, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(spec.seed, 7);
  EXPECT_EQ(spec.activation, "tanh");
  EXPECT_TRUE(spec.no_pin);
  EXPECT_EQ(spec.test, "other.csv");
}

TEST(SetOption, RefusesUnknownNamesAndWrongValues) {
  TrainingSpec spec;
  EXPECT_THROW(SetOption(spec, "epochs", "many"), UserError);
  EXPECT_THROW(SetOption(spec, "epochs", "-1"), UserError);
  try {
    SetOption(spec, "epoch", "1");
    FAIL() << "an option that is not there was set";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean epochs?"));
  }
}

}  // namespace
}  // namespace hogbatch
