// Bad input gets a clear sentence and the right exit code, never a stack trace or a signal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

constexpr int kUser = 2;
constexpr int kMachine = 1;

// One sentence for the user on standard error, and nothing else anywhere.
void ExpectRefused(const Finished& finished, int code, const std::string& gist) {
  EXPECT_EQ(finished.signal, 0);
  EXPECT_EQ(finished.exit_code, code) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr(gist));
  EXPECT_TRUE(finished.err.starts_with("hogbatch: ")) << finished.err;
  EXPECT_EQ(finished.err.find('\n'), finished.err.size() - 1) << finished.err;
}

struct BadFile {
  const char* name;
  std::string content;
  const char* gist;
  friend void PrintTo(const BadFile& file, std::ostream* out) { *out << file.name; }
};

// Enough numbers that a word among them is a mistake.
std::string ManyRows() {
  std::string rows;
  for (int i = 0; i < 200; ++i) rows += std::to_string(i % 7) + ",2.5,0\n";
  return rows;
}

class TrainRefuses : public testing::TestWithParam<BadFile> {};

TEST_P(TrainRefuses, TheFileAndSaysWhere) {
  const TemporaryFolder folder;
  folder.Write("bad", GetParam().content);
  const Finished finished = RunProgram({"train", "bad", "--quiet", "--out", "o"}, folder.path());
  ExpectRefused(finished, kUser, GetParam().gist);
  EXPECT_FALSE(folder.Has("o/model.safetensors"));
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, TrainRefuses,
    testing::Values(BadFile{"Empty", "", "bad"}, BadFile{"BadNumber", "1 1:2\n-1 1:x\n", "bad:2:6"},
                    BadFile{"IndexZero", "1 1:2\n-1 0:3\n", "bad:2:4"},
                    BadFile{"NegativeIndex", "1 1:2\n-1 -4:3\n", "bad:2:4"},
                    BadFile{"IndexOver2To31", "1 1:2\n-1 2147483649:3\n", "bad:2:4"},
                    BadFile{"NotANumber", "1 1:2\n-1 1:nan\n", "bad:2:6"},
                    BadFile{"Infinity", "1 1:2\n-1 1:inf\n", "bad:2:6"},
                    BadFile{"Overflow", "1 1:2\n-1 1:1e400\n", "bad:2:6"},
                    BadFile{"OneClass", "1 1:2\n1 1:3\n1 1:4\n", "label 1"},
                    BadFile{"BadNumberInCsv", ManyRows() + "1,x,1\n", "bad:201:3"},
                    BadFile{"InfinityInCsv", ManyRows() + "1,inf,1\n", "bad:201:3"},
                    BadFile{"MissingFieldInCsv", "1,2,0\n1,1\n", "bad:2"}),
    [](const auto& one) { return one.param.name; });

struct BadCommand {
  const char* name;
  std::vector<std::string> arguments;
  const char* gist;
  friend void PrintTo(const BadCommand& command, std::ostream* out) { *out << command.name; }
};

class ProgramRefuses : public testing::TestWithParam<BadCommand> {};

TEST_P(ProgramRefuses, TheCommandAndSaysWhy) {
  const TemporaryFolder folder;
  folder.Write("data", TwoClasses(40));
  ExpectRefused(RunProgram(GetParam().arguments, folder.path()), kUser, GetParam().gist);
  EXPECT_FALSE(folder.Has("runs")) << "nothing may be left behind";
}

INSTANTIATE_TEST_SUITE_P(
    BadUsage, ProgramRefuses,
    testing::Values(
        BadCommand{"MissingFile", {"train", "nowhere.csv"}, "nowhere.csv"},
        BadCommand{"MissingTestFile", {"train", "data", "--test", "nowhere"}, "nowhere"},
        BadCommand{"UnknownCommand", {"trian"}, "did you mean train?"},
        BadCommand{"UnknownOption",
                   {"train", "data", "--epoch", "3"},
                   "unknown option --epoch; did you mean --epochs?"},
        BadCommand{"UnknownOptionWithEquals",
                   {"train", "--momentun=0.9"},
                   "unknown option --momentun; did you mean --momentum?"},
        BadCommand{"UnknownWord",
                   {"train", "--activation", "rleu"},
                   "--activation takes relu, sigmoid, tanh, gelu, not 'rleu'; did you mean relu?"},
        BadCommand{"OutOfRange", {"train", "--lr", "-3"}, "--lr must be between 0 and 1000"},
        BadCommand{"NotANumber", {"train", "--epochs", "ten"}, "--epochs needs a number"},
        BadCommand{"NanAsNumber", {"train", "--epochs", "nan"}, "--epochs needs a number"},
        BadCommand{"FractionOfAWhole", {"train", "--patience", "1.5"}, "needs a whole number"},
        BadCommand{"MissingValue", {"train", "--epochs"}, "--epochs needs a value"},
        BadCommand{"TooManyArguments", {"devices", "more"}, "'more' is one argument too many"},
        BadCommand{"BadHidden", {"train", "data", "--hidden", "5,0"}, "--hidden"},
        BadCommand{"NetworkBeyondMemory",
                   {"train", "data", "--hidden", "900000,900000"},
                   "choose smaller layers with --hidden"},
        BadCommand{"BadBatch", {"train", "data", "--cpu-batch", "9:3"}, "did you mean 3:9?"},
        BadCommand{"MeasuredCpuBatch",
                   {"train", "data", "--cpu-batch", "auto:64"},
                   "only a GPU's minimum is measured"},
        BadCommand{"BadGpuBatch", {"train", "data", "--gpu-batch", "0"}, "--gpu-batch needs rows"},
        BadCommand{"BadTime", {"train", "data", "--max-time", "5d"}, "--max-time needs a time"},
        BadCommand{"BadDevices", {"train", "data", "--devices", "cpu:0"}, "between 1 and 1024"},
        BadCommand{"UnknownDevices", {"train", "data", "--devices", "gpu"}, "by its interface"},
        BadCommand{"MisspeltInit", {"train", "data", "--init", "xavire"}, "did you mean xavier?"},
        BadCommand{"UnknownPositive", {"train", "data", "--positive", "7"}, "--positive"},
        BadCommand{"UnknownClassWeight", {"train", "data", "--class-weights", "7=2"}, "label '7'"},
        BadCommand{"LossThatDoesNotFit",
                   {"train", "data", "--positive", "1", "--loss", "squared"},
                   "--positive makes two classes, which --loss squared cannot learn"},
        BadCommand{"UnwritableOut", {"train", "data", "--out", "/dev/null/x"}, "/dev/null/x"},
        BadCommand{"EvalWithoutData", {"eval", "model"}, "eval needs a data file"},
        BadCommand{"PredictWithoutModel", {"predict"}, "predict needs a model file"},
        BadCommand{"MissingModel", {"eval", "nowhere", "data"}, "nowhere"},
        BadCommand{"DamagedModel", {"eval", "data", "data"}, "data"}),
    [](const auto& one) { return one.param.name; });

// A model of two classes and four features, made once for all tests that need one.
class WithModel : public testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("data", TwoClasses(40));
    const Finished trained =
        RunProgram({"train", "data", "--epochs", "1", "--hidden", "3", "--quiet", "--out", "m"},
                   folder_.path());
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  TemporaryFolder folder_;
  const std::string model_ = "m/model.safetensors";
};

TEST_F(WithModel, EvalRefusesALabelTheModelDoesNotKnow) {
  folder_.Write("other", "1 1:2\n7 1:3\n");
  ExpectRefused(RunProgram({"eval", model_, "other"}, folder_.path()), kUser, "other:2:1");
}

TEST_F(WithModel, EvalRefusesMoreFeaturesThanTheModelHas) {
  folder_.Write("other", "1 1:2\n-1 9:3\n");
  ExpectRefused(RunProgram({"eval", model_, "other"}, folder_.path()), kUser, "other:2:4");
}

TEST_F(WithModel, TrainRefusesATestFileWithMoreFeatures) {
  folder_.Write("other", "1 1:2\n-1 9:3\n");
  ExpectRefused(RunProgram({"train", "data", "--test", "other", "--quiet"}, folder_.path()), kUser,
                "other:2:4");
}

TEST_F(WithModel, EveryTruncationOfAModelIsRefused) {
  const std::string whole = folder_.Read(model_);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{100},
                                 whole.size() / 2, whole.size() - 1}) {
    folder_.Write("cut", whole.substr(0, size));
    ExpectRefused(RunProgram({"eval", "cut", "data"}, folder_.path()), kUser, "cut");
  }
}

TEST_F(WithModel, InitSaysWhatDiffers) {
  ExpectRefused(
      RunProgram({"train", "data", "--init", model_, "--hidden", "5", "--quiet"}, folder_.path()),
      kUser, "its network is 4 -> 3 -> 2, and this training's is 4 -> 5 -> 2");
}

TEST(BadInput, ATruncatedXzFileIsRefused) {
  const TemporaryFolder folder;
  folder.Write("plain", TwoClasses(4000));
  ASSERT_EQ(std::system(("xz -z '" + folder.path() + "/plain'").c_str()), 0);
  const std::string whole = folder.Read("plain.xz");
  folder.Write("cut.xz", whole.substr(0, whole.size() / 2));
  ExpectRefused(RunProgram({"train", "cut.xz", "--quiet"}, folder.path()), kUser, "cut.xz");
}

TEST(BadInput, ATruncatedGzFileIsRefused) {
  const TemporaryFolder folder;
  folder.Write("plain", TwoClasses(4000));
  ASSERT_EQ(std::system(("gzip '" + folder.path() + "/plain'").c_str()), 0);
  const std::string whole = folder.Read("plain.gz");
  folder.Write("cut.gz", whole.substr(0, whole.size() / 2));
  ExpectRefused(RunProgram({"train", "cut.gz", "--quiet"}, folder.path()), kUser, "cut.gz");
}

TEST(BadInput, ALossThatBecomesNanIsSaidWithAdviceAndNeverSaved) {
  const TemporaryFolder folder;
  std::string data;
  for (int i = 0; i < 200; ++i) data += i % 2 ? "1 1:1e18 2:3\n" : "-1 1:-1e18 2:1\n";
  folder.Write("data", data);
  const Finished finished =
      RunProgram({"train", "data", "--scale", "none", "--lr", "1000", "--lr-scaling", "none",
                  "--valid-fraction", "0", "--quiet", "--out", "o"},
                 folder.path());
  EXPECT_EQ(finished.exit_code, kUser) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("(--lr 500; attempt 1 of 3)"));
  EXPECT_THAT(finished.err, HasSubstr("try a lower learning rate such as --lr 12.5"));
  // What was evaluated before it is a model; where nothing was, there is none, and that is said.
  EXPECT_EQ(folder.Has("o/model.safetensors"),
            finished.err.find("no model was saved") == std::string::npos);
  EXPECT_EQ(ValueOf(folder.Read("o/summary.json"), "stopped_because"), "diverged");
  EXPECT_EQ(folder.Read("o/summary.json").find("null"), std::string::npos);
}

// Rows of finite numbers that no network has finite outputs for.
std::string BeyondFloats() {
  std::string data;
  for (int i = 0; i < 200; ++i) {
    data += i % 2 ? "1 1:3e38 2:3e38 3:-3e38 4:3e38\n" : "-1 1:-3e38 2:3e38 3:3e38 4:-3e38\n";
  }
  return data;
}

TEST(BadInput, ATrainingThatNeverHadALossLeavesNoModel) {
  const TemporaryFolder folder;
  folder.Write("data", BeyondFloats());
  // The starting weights are finite themselves, and still no model to save.
  const Finished finished = RunProgram({"train", "data", "--scale", "none", "--epochs", "0",
                                        "--hidden", "64", "--quiet", "--out", "o"},
                                       folder.path());
  ExpectRefused(finished, kUser, "no model was saved");
  EXPECT_EQ(ValueOf(folder.Read("o/summary.json"), "stopped_because"), "diverged");
  EXPECT_FALSE(folder.Has("o/model.safetensors"));
}

TEST(BadInput, OutputsThatAreNotFiniteAreSaidAndNeitherRatedNorNamed) {
  const TemporaryFolder folder;
  std::string small;
  std::string huge;
  for (int i = 0; i < 40; ++i) {
    small += i % 2 ? ".9,.1,.8,.2,.7,.3,0\n" : ".1,.9,.2,.8,.3,.7,1\n";
    huge += i % 2 ? "3e38,3e38,3e38,3e38,-3e38,3e38,0\n" : "-3e38,3e38,-3e38,-3e38,3e38,-3e38,1\n";
  }
  folder.Write("small", small);
  folder.Write("huge", huge);
  ASSERT_EQ(RunProgram({"train", "small", "--scale", "none", "--hidden", "64", "--epochs", "1",
                        "--quiet", "--out", "o"},
                       folder.path())
                .exit_code,
            0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"eval", "o/model.safetensors", "huge"},
        {"eval", "o/model.safetensors", "huge", "--json"},
        {"predict", "o/model.safetensors", "huge"}}) {
    const Finished finished = RunProgram(command, folder.path());
    ExpectRefused(finished, kUser, "are not finite");
    EXPECT_EQ(finished.out, "");
  }
}

TEST(BadInput, IsRefusedWithTheSameCodeWithoutStandardError) {
  const TemporaryFolder folder;
  const Finished finished =
      Process({"train", "nowhere.csv"}, folder.path(), Process::Output::kErrorClosed).Wait();
  EXPECT_EQ(finished.signal, 0);
  EXPECT_EQ(finished.exit_code, kUser);
}

TEST(BadInput, AWarningWithoutStandardErrorDoesNotEndATraining) {
  const TemporaryFolder folder;
  folder.Write("data", TwoClasses(40));
  const Finished finished = Process({"train", "data", "--devices", "cpu:1000", "--epochs", "1",
                                     "--hidden", "3", "--quiet", "--out", "o"},
                                    folder.path(), Process::Output::kErrorClosed)
                                .Wait();
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_TRUE(folder.Has("o/model.safetensors"));
}

TEST(BadInput, WhatIsSaidWithoutStandardErrorGoesIntoNoFile) {
  const TemporaryFolder folder;
  folder.Write("data", BeyondFloats());
  // The advice comes while the record is open, which would have taken the closed stream's number.
  const Finished finished = Process({"train", "data", "--scale", "none", "--epochs", "0",
                                     "--hidden", "64", "--quiet", "--out", "o"},
                                    folder.path(), Process::Output::kErrorClosed)
                                .Wait();
  EXPECT_EQ(finished.exit_code, kUser);
  ASSERT_TRUE(folder.Read("o/metrics.jsonl").starts_with("{"));
  EXPECT_EQ(folder.Read("o/metrics.jsonl").find("hogbatch:"), std::string::npos);
}

TEST(BadInput, WithoutStandardStreamsNothingElseThanRecordsGoesIntoFiles) {
  const TemporaryFolder folder;
  folder.Write("data", TwoClasses(40));
  // It has much to say: the plan, progress, and a warning of too many workers.
  const std::vector<std::string> train = {
      "train", "data",  "--devices", "cpu:64",        "--epochs",       "3",   "--hidden",
      "3",     "--out", "o",         "--tensorboard", "--report-every", "0.01"};
  EXPECT_EQ(Process(train, folder.path(), Process::Output::kAllClosed).Wait().exit_code, 0);
  EXPECT_EQ(RunProgram({"eval", "o/model.safetensors", "data"}, folder.path()).exit_code, 0);
  for (const char* name : {"o/metrics.jsonl", "o/options.json", "o/summary.json"}) {
    EXPECT_TRUE(folder.Read(name).starts_with("{")) << name;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() + "/o")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry.path(), folder.path());
    const std::string content = folder.Read(name);
    for (const char* said : {"hogbatch: ", "workers share", "all epochs are done"}) {
      EXPECT_EQ(content.find(said), std::string::npos) << name << " holds what was said";
    }
  }
}

TEST(BadInput, AFullDiskIsToldOnceAndTheModelIsStillSaved) {
  const TemporaryFolder folder;
  folder.Write("data", TwoClasses(40));
  ASSERT_EQ(RunProgram({"train", "data", "--epochs", "1", "--hidden", "3", "--quiet", "--out", "o"},
                       folder.path())
                .exit_code,
            0);
  // The record is as large as a file may be, and nothing else comes near it.
  std::string record;
  for (int i = 0; i < 1000; ++i) record += "{\"examples\": 0}\n";
  folder.Write("o/metrics.jsonl", record);
  std::filesystem::remove(folder.path() + "/o/model.safetensors");
  const ScopedFileLimit limit(record.size());
  const Finished finished =
      RunProgram({"train", "--resume", "o", "--epochs", "4", "--quiet"}, folder.path());
  ExpectRefused(finished, kMachine, "cannot write o/metrics.jsonl: File too large");
  EXPECT_TRUE(folder.Has("o/model.safetensors"));
}

// Columns are matched by position, so another order would silently give wrong predictions.
TEST(OtherColumns, AreRefusedWhereverAModelMeetsAFile) {
  const TemporaryFolder folder;
  const auto run = [&](const std::vector<std::string>& arguments) {
    return RunProgram(arguments, folder.path());
  };
  const std::string rows = "1,20,0\n2,10,1\n1,30,0\n2,40,1\n";
  folder.Write("good.csv", "a,b,y\n" + rows);
  folder.Write("bad.csv", "c,b,y\n" + rows);
  folder.Write("new.csv", "b,a\n20,1\n");
  const Finished trained =
      run({"train", "good.csv", "--hidden", "2", "--epochs", "1", "--out", "o"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("label y (last)"));
  const std::string model = "o/model.safetensors";
  const std::string gist = "bad.csv:1:1: there is no column 'a'";
  ExpectRefused(run({"eval", model, "bad.csv"}), kUser, gist);
  ExpectRefused(run({"predict", model, "bad.csv"}), kUser, gist);
  ExpectRefused(run({"train", "bad.csv", "--hidden", "2", "--init", model, "--quiet"}), kUser,
                gist);
  ExpectRefused(run({"train", "good.csv", "--test", "bad.csv", "--hidden", "2", "--quiet"}), kUser,
                gist);
  EXPECT_EQ(run({"predict", model, "good.csv"}).exit_code, 0);
  EXPECT_EQ(run({"predict", model, "new.csv"}).exit_code, 0) << "another order, and no label";
  const Finished filled = run({"predict", model, "bad.csv", "--missing-columns", "fill"});
  EXPECT_EQ(filled.exit_code, 0) << filled.err;
  EXPECT_THAT(filled.err, HasSubstr("columns that the model does not know are not used: c"));
  using Strings = std::vector<std::string>;
  for (const Strings& words : {Strings{"train", "bad.csv", "--init", model},
                               Strings{"train", "good.csv", "--test", "bad.csv"},
                               Strings{"train", "good.csv", "--valid", "bad.csv"}}) {
    Strings fill = words;
    fill.insert(fill.end(), {"--hidden", "2", "--epochs", "1", "--missing-columns", "fill"});
    const Finished taken = run(fill);
    EXPECT_EQ(taken.exit_code, 0) << taken.err;
  }
}

}  // namespace
}  // namespace hogbatch
