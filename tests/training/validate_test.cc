#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

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

// Why options that are set from texts are refused together.
using Given = std::vector<std::pair<const char*, const char*>>;
std::string WhyNotTogether(const Given& given) {
  return WhyNot([&](TrainingSpec& spec) {
    for (const auto& [name, text] : given) SetOption(spec, name, text);
  });
}

constexpr const char* kTaken = "it was taken";

TEST(Validate, RefusesOptionsThatWantOtherKindsOfLabels) {
  EXPECT_EQ(WhyNotTogether({{"task", "classify"}, {"loss", "squared"}}),
            "--task classify is for classes, but --loss squared for numbers; leave out one of "
            "them");
  for (const auto& [task, loss] : Given{{"classify", "sigmoid"},
                                        {"regress", "softmax"},
                                        {"regress", "sigmoid"},
                                        {"multilabel", "softmax"},
                                        {"multilabel", "squared"}}) {
    EXPECT_THAT(WhyNotTogether({{"task", task}, {"loss", loss}}),
                HasSubstr("leave out one of them"));
  }
  for (const auto& [task, loss] : Given{{"classify", "softmax"},
                                        {"regress", "squared"},
                                        {"multilabel", "sigmoid"},
                                        {"auto", "sigmoid"},
                                        {"classify", "auto"}}) {
    EXPECT_EQ(WhyNotTogether({{"task", task}, {"loss", loss}}), kTaken);
  }
  EXPECT_EQ(WhyNotTogether({{"class-weights", "balanced"}, {"task", "regress"}}),
            "--class-weights is for classes; with --task regress the labels are numbers");
  EXPECT_EQ(WhyNotTogether({{"class-weights", "balanced"}, {"task", "multilabel"}}), kTaken);
}

TEST(Validate, LearnsOneLabelAgainstAllOthersAsClasses) {
  EXPECT_EQ(WhyNotTogether({{"positive", "1"}, {"task", "regress"}}),
            "--positive makes two classes, which --task regress cannot learn; leave out one of "
            "them");
  EXPECT_EQ(WhyNotTogether({{"positive", "1"}, {"task", "classify"}}), kTaken);
  EXPECT_EQ(WhyNotTogether({{"positive", "1"}, {"task", "multilabel"}, {"loss", "softmax"}}),
            kTaken);
}

TEST(Validate, RefusesOptionsThatTheFormatRulesOut) {
  EXPECT_EQ(WhyNotTogether({{"format", "libsvm"}, {"label", "t"}}),
            "--label is for tables, which --format libsvm rules out; leave out one of them");
  EXPECT_EQ(WhyNotTogether({{"format", "libsvm"}, {"label", "first"}}), kTaken);
  EXPECT_THAT(WhyNotTogether({{"format", "idx"}, {"label", "first"}}), HasSubstr("--label"));
  for (const char* option : {"categorical", "ignore", "keep", "weight", "split-by", "split-time"}) {
    EXPECT_THAT(WhyNotTogether({{"format", "libsvm"}, {option, "x"}}), HasSubstr(option));
    EXPECT_EQ(WhyNotTogether({{"format", "jsonl"}, {option, "x"}}), kTaken);
  }
  EXPECT_THAT(WhyNotTogether({{"format", "csv"}, {"task", "multilabel"}}), HasSubstr("LIBSVM"));
  EXPECT_THAT(WhyNotTogether({{"format", "csv"}, {"labels", "file"}}), HasSubstr("IDX"));
  EXPECT_EQ(WhyNotTogether({{"format", "idx"}, {"labels", "file"}}), kTaken);
}

TEST(Validate, RefusesAColumnThatIsNamedForWhatExcludesEachOther) {
  EXPECT_EQ(WhyNotTogether({{"label", "t"}, {"ignore", "a,t"}}),
            "--ignore names the label column t; leave it out, or choose another label with "
            "--label");
  EXPECT_THAT(WhyNotTogether({{"label", "t"}, {"weight", "t"}}), HasSubstr("--weight names"));
  EXPECT_EQ(WhyNotTogether({{"ignore", "a,x"}, {"keep", "x,b"}}),
            "--ignore and --keep both name x, which is either an input or not; leave it out of "
            "one of them");
  EXPECT_THAT(WhyNotTogether({{"ignore", "x"}, {"categorical", "x"}}), HasSubstr("both name x"));
  EXPECT_THAT(WhyNotTogether({{"weight", "x"}, {"keep", "x"}}), HasSubstr("both name x"));
  // All that is left to say of the column is that it is no input.
  EXPECT_EQ(WhyNotTogether({{"ignore", "x"}, {"weight", "x"}}), kTaken);
  EXPECT_EQ(WhyNotTogether({{"split-by", "x"}, {"keep", "x"}}), kTaken);
  // A number is a place in --label, but a name elsewhere if a column has that name.
  EXPECT_EQ(WhyNotTogether({{"label", "2"}, {"ignore", "2"}}), kTaken);
  EXPECT_EQ(WhyNotTogether({{"label", "last"}, {"ignore", "last"}}), kTaken);
}

TEST(Validate, RefusesASplitOfNoRows) {
  EXPECT_EQ(WhyNotTogether({{"split-by", "x"}, {"valid-fraction", "0"}}),
            "--valid-fraction 0 sets no rows aside, so that --split-by has none to choose; leave "
            "out one of them");
  EXPECT_THAT(WhyNotTogether({{"split-time", "x"}, {"valid-fraction", "0"}}),
              HasSubstr("--split-time"));
  EXPECT_EQ(WhyNotTogether({{"valid", "b.csv"}, {"valid-fraction", ".2"}}),
            "--valid names the validation rows; leave out --valid-fraction");
  EXPECT_EQ(WhyNotTogether({{"valid", "b.csv"}, {"valid-fraction", "0"}}), kTaken);
  EXPECT_EQ(WhyNotTogether({{"valid", "b.csv"}}), kTaken);
  EXPECT_EQ(WhyNotTogether({{"split-by", "x"}, {"fold", "1/3"}}), kTaken);
}

TEST(Validate, LeavesToAModelWhatItKnows) {
  for (const auto& [name, text] : Given{{"task", "regress"}, {"ignore", "x"}, {"hash", "9"}}) {
    EXPECT_THAT(WhyNotTogether({{"init", "/dev/null"}, {name, text}}),
                HasSubstr("the model of --init knows its columns and labels"));
  }
  EXPECT_EQ(WhyNotTogether({{"init", "/dev/null"}}), kTaken);
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
