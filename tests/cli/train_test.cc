// The commands as users meet them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

class TrainCommand : public testing::Test {
 protected:
  void SetUp() override { folder_.Write("data", TwoClasses(400)); }

  // Trains a small network into `out`.
  Finished Train(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"train", "data",  "--hidden", "8",         "--epochs",
                                          "3",     "--out", out,        "--devices", "cpu:2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(TrainCommand, SaysWhatItUnderstoodAndWhereResultsAre) {
  const Finished finished = Train("o");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("360 training rows, 40 validation rows, 4 features"));
  EXPECT_THAT(finished.out, HasSubstr("4 -> 8 -> 2, relu, 58 parameters, softmax loss"));
  EXPECT_THAT(finished.out, HasSubstr("hogbatch on cpu.0 to cpu.1"));
  EXPECT_THAT(finished.out, HasSubstr("model     o/model.safetensors"));
  EXPECT_EQ(finished.out.find('\r'), std::string::npos) << "a log file wants whole lines";
}

TEST_F(TrainCommand, LeavesARecordWithTheKeysOfTheManual) {
  folder_.Write("test", TwoClasses(20));
  ASSERT_EQ(Train("o", {"--test", "test"}).exit_code, 0);
  const std::string summary = folder_.Read("o/summary.json");
  for (const char* key : {"seconds",
                          "train_seconds",
                          "epoch",
                          "examples",
                          "updates",
                          "train_loss",
                          "valid_loss",
                          "test_loss",
                          "test_accuracy",
                          "examples_per_second",
                          "algorithm",
                          "devices",
                          "seed",
                          "parameters",
                          "best_epoch",
                          "stopped_because",
                          "updates_by_worker",
                          "busy_fraction_by_worker",
                          "cpu.0",
                          "cpu.1"}) {
    EXPECT_TRUE(HasKey(summary, key)) << key;
  }
  EXPECT_EQ(ValueOf(summary, "examples"), "1080");
  EXPECT_EQ(ValueOf(summary, "stopped_because"), "epochs");
  const std::string metrics = folder_.Read("o/metrics.jsonl");
  EXPECT_TRUE(HasKey(metrics, "test_accuracy"));
  EXPECT_EQ(metrics.back(), '\n');
  EXPECT_EQ(ValueOf(folder_.Read("o/options.json"), "devices"), "cpu:2");
}

TEST_F(TrainCommand, QuietPrintsNothingAndJsonTheSummaryOnly) {
  const Finished quiet = Train("q", {"--quiet"});
  EXPECT_EQ(quiet.out + quiet.err, "");
  const Finished json = Train("j", {"--json"});
  EXPECT_EQ(json.out, folder_.Read("j/summary.json"));
}

TEST_F(TrainCommand, MakesADatedFolderWhenNoneIsNamed) {
  const auto train = [&] {
    return RunProgram({"train", "data", "--hidden", "2", "--epochs", "0", "--quiet"},
                      folder_.path());
  };
  ASSERT_EQ(train().exit_code, 0);
  ASSERT_EQ(train().exit_code, 0);
  int folders = 0;
  for (const auto& run : std::filesystem::directory_iterator(folder_.path() + "/runs")) {
    ++folders;
    EXPECT_TRUE(std::filesystem::exists(run.path() / "model.safetensors"));
  }
  EXPECT_EQ(folders, 2) << "a run never writes over another";
}

TEST_F(TrainCommand, ZeroEpochsWriteTheStartingWeightsAndInitTakesThem) {
  ASSERT_EQ(Train("a", {"--epochs", "0", "--seed", "5"}).exit_code, 0);
  const Finished again =
      Train("b", {"--epochs", "0", "--seed", "6", "--init", "a/model.safetensors"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const std::string a = folder_.Read("a/model.safetensors");
  const std::string b = folder_.Read("b/model.safetensors");
  const std::size_t weights = sizeof(float) * (4 * 8 + 8 + 8 * 2 + 2);
  ASSERT_GT(a.size(), weights);
  EXPECT_EQ(a.substr(a.size() - weights), b.substr(b.size() - weights));
}

TEST_F(TrainCommand, ThatOnlyMakesAModelWorseIsAMistakeOfTheUser) {
  ASSERT_EQ(Train("o").exit_code, 0);
  const Finished worse = Train("p", {"--init", "o/model.safetensors", "--hidden", "8", "--lr",
                                     "1000", "--lr-schedule", "constant", "--quiet"});
  EXPECT_EQ(worse.exit_code, 2);
  EXPECT_THAT(worse.err, HasSubstr("try a lower learning rate such as"));
}

// Other data with another range: what the model learnt about scaling is not learnt anew.
TEST_F(TrainCommand, GoesOnFromAModelWithItsOwnScaling) {
  folder_.Write("wide", "1,100,0\n2,300,1\n3,100,0\n4,300,1\n5,100,0\n6,300,1\n");
  folder_.Write("narrow", "3,100,0\n4,120,1\n3,110,0\n4,130,1\n");
  const auto run = [&](const std::vector<std::string>& arguments) {
    return RunProgram(arguments, folder_.path());
  };
  ASSERT_EQ(run({"train", "wide", "--hidden", "4", "--out", "a"}).exit_code, 0);
  const std::string model = "a/model.safetensors";
  ASSERT_EQ(
      run({"train", "narrow", "--hidden", "4", "--epochs", "0", "--init", model, "--out", "b"})
          .exit_code,
      0);
  EXPECT_EQ(folder_.Read(model), folder_.Read("b/model.safetensors"));
  const Finished refused =
      run({"train", "narrow", "--hidden", "4", "--init", model, "--scale", "minmax"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the model of --init has 'standard' and keeps it"));
}

TEST_F(TrainCommand, KeepsTheModelOfAnEarlierRunUntilThereIsANewOne) {
  ASSERT_EQ(Train("o").exit_code, 0);
  const std::string first = folder_.Read("o/model.safetensors");
  folder_.Write("data", "1 1:3e38\n-1 1:-3e38 2:3e38\n1 2:-3e38\n-1 1:1\n");
  EXPECT_EQ(Train("o", {"--scale", "none", "--epochs", "0"}).exit_code, 2);
  EXPECT_EQ(folder_.Read("o/model.safetensors"), first);
  EXPECT_EQ(folder_.Read("o/model.previous.safetensors"), first);
}

TEST_F(TrainCommand, SyncIsTheSameOnEveryRun) {
  ASSERT_EQ(Train("a", {"--algorithm", "sync"}).exit_code, 0);
  ASSERT_EQ(Train("b", {"--algorithm", "sync"}).exit_code, 0);
  EXPECT_EQ(folder_.Read("a/model.safetensors"), folder_.Read("b/model.safetensors"));
}

// On the data that ships with the program: 7 classes, whose frequencies alone give a loss of 1.2.
TEST_F(TrainCommand, LearnsWithTheDefaultRateOfEachOptimizer) {
  for (const std::string optimizer : {"sgd", "adam"}) {
    const Finished finished = RunProgram({"train", "--hidden", "64", "--epochs", "1", "--optimizer",
                                          optimizer, "--out", optimizer, "--json"},
                                         folder_.path());
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_LT(std::stod(ValueOf(finished.out, "valid_loss")), 0.85) << optimizer;
  }
  EXPECT_EQ(ValueOf(folder_.Read("sgd/options.json"), "lr"), "0.05");
  EXPECT_EQ(ValueOf(folder_.Read("adam/options.json"), "lr"), "0.001");
}

TEST_F(TrainCommand, WarnsOfOneRowPerUpdateOnSeveralCores) {
  EXPECT_THAT(Train("o", {"--cpu-batch", "1"}).out, HasSubstr("several can be slower than one"));
}

TEST_F(TrainCommand, CtrlCSavesTheModelAndExitsWith130) {
  Process process({"train", "data", "--hidden", "8", "--epochs", "1000000", "--out", "o",
                   "--report-every", "0.05", "--quiet"},
                  folder_.path());
  while (process.running() && folder_.Read("o/metrics.jsonl").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  process.Signal(SIGINT);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_EQ(ValueOf(folder_.Read("o/summary.json"), "stopped_because"), "interrupted");
  EXPECT_EQ(RunProgram({"eval", "o/model.safetensors", "data"}, folder_.path()).exit_code, 0);
}

TEST_F(TrainCommand, InsistingOnCtrlCEndsWith130Too) {
  Process process({"train", "data", "--hidden", "8", "--epochs", "1000000", "--out", "o",
                   "--report-every", "0.05", "--quiet"},
                  folder_.path());
  while (process.running() && folder_.Read("o/metrics.jsonl").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  while (process.running()) process.Signal(SIGINT);
  EXPECT_EQ(process.Wait().exit_code, 130);
}

TEST_F(TrainCommand, RewritesALineThatFitsTheTerminal) {
  ::setenv("TERM", "xterm", 1);
  // Long enough for reports, and evaluations so rare that they do not take the place of reports.
  Process process({"train", "data", "--hidden", "8", "--epochs", "1000000", "--eval-every",
                   "1000000", "--max-time", "0.5", "--out", "o", "--report-every", "0.05"},
                  folder_.path(), Process::Output::kTerminal);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("valid loss"));
  int live = 0;
  // A live line stands between a carriage return and the code that clears what follows it.
  for (std::size_t at = 0; (at = finished.out.find('\r', at)) != std::string::npos; ++at) {
    const std::size_t end = finished.out.find_first_of("\033\n", at);
    if (end == std::string::npos || finished.out[end] == '\n') continue;
    EXPECT_LT(end - at - 1, 40u) << finished.out.substr(at, end - at);
    if (finished.out.substr(at + 1, 5) == "epoch") ++live;
  }
  EXPECT_GT(live, 0);
}

TEST_F(TrainCommand, GoesOnWhenNobodyReadsItsOutputAnyMore) {
  Process process({"train", "data", "--hidden", "8", "--epochs", "2", "--out", "o"}, folder_.path(),
                  Process::Output::kClosedPipe);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_TRUE(folder_.Has("o/model.safetensors"));
}

TEST_F(TrainCommand, TrainsOnItsOwnDataWhenNoFileIsNamed) {
  const Finished finished =
      RunProgram({"train", "--hidden", "16", "--epochs", "0.2", "--out", "o"}, folder_.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("covtype-50k (built in): 45,000 training rows"));
}

class ModelCommands : public TrainCommand {
 protected:
  void SetUp() override {
    TrainCommand::SetUp();
    ASSERT_EQ(Train("o", {"--epochs", "20", "--quiet"}).exit_code, 0);
  }
  Finished Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, "o/model.safetensors");
    return RunProgram(arguments, folder_.path());
  }
};

TEST_F(ModelCommands, EvalPrintsLossAccuracyAucF1AndTheConfusionMatrix) {
  const Finished finished = Run({"eval", "data"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const char* part : {"loss", "accuracy        1\n", "auc             1  (of 1)",
                           "f1              1  (of 1)", "predicted", "   -1    200      0"}) {
    EXPECT_THAT(finished.out, HasSubstr(part));
  }
}

TEST_F(ModelCommands, EvalAgreesWithTheTestLossOfTraining) {
  ASSERT_EQ(Train("t", {"--test", "data", "--quiet"}).exit_code, 0);
  const Finished json =
      RunProgram({"eval", "t/model.safetensors", "data", "--json"}, folder_.path());
  const std::string summary = folder_.Read("t/summary.json");
  EXPECT_NEAR(std::stod(ValueOf(json.out, "loss")), std::stod(ValueOf(summary, "test_loss")), 1e-6);
  EXPECT_EQ(ValueOf(json.out, "accuracy"), ValueOf(summary, "test_accuracy"));
}

TEST_F(ModelCommands, PredictPrintsALineARowInTheFilesOrder) {
  const Finished finished = Run({"predict", "data"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += i % 2 ? "1\n" : "-1\n";
  EXPECT_EQ(finished.out, expected);
  ASSERT_EQ(Run({"predict", "data", "--out", "p"}).exit_code, 0);
  EXPECT_EQ(folder_.Read("p"), expected);
  EXPECT_TRUE(Run({"predict", "data", "--probabilities"}).out.starts_with("label,-1,1\n-1,0."));
}

TEST_F(ModelCommands, PredictNeedsNoLabels) {
  folder_.Write("unlabelled", "1:0.9 2:0.01\n1:0.1 2:0.01\n");
  const Finished finished = Run({"predict", "unlabelled"});
  EXPECT_EQ(finished.out, "1\n-1\n") << finished.err;
}

TEST_F(ModelCommands, PredictEndsQuietlyWhenItsReaderGoesAway) {
  Process process({"predict", "o/model.safetensors", "data"}, folder_.path(),
                  Process::Output::kClosedPipe);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
}

TEST(DevicesCommand, ListsTheProcessorAndWhatAutoTakes) {
  const TemporaryFolder folder;
  const Finished finished = RunProgram({"devices"}, folder.path());
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("for this process"));
  EXPECT_THAT(finished.out, HasSubstr("--devices auto takes cpu.0"));
}

TEST(ValidationFile, IsValidatedOnAndAllOfTheDataTrains) {
  const TemporaryFolder folder;
  folder.Write("rows.svm", TwoClasses(60));
  folder.Write("valid.svm", TwoClasses(20));
  const Finished run = RunProgram({"train", "rows.svm", "--valid", "valid.svm", "--hidden", "4",
                                   "--epochs", "1", "--out", "run"},
                                  folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("60 training rows, 20 validation rows"), std::string::npos) << run.out;
  const Finished both =
      RunProgram({"train", "rows.svm", "--valid", "valid.svm", "--split-by", "1"}, folder.path());
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("--valid names the validation rows"), std::string::npos) << both.err;
}

TEST(StreamedData, TrainsAsDataInMemoryDoes) {
  const TemporaryFolder folder;
  const ScopedVariable cache("XDG_CACHE_HOME", folder.path() + "/cache");
  folder.Write("rows.svm", TwoClasses(2000));
  const std::vector<std::string> words = {"train",    "rows.svm", "--stream", "--hidden", "4",
                                          "--epochs", "3",        "--out",    "run"};
  const Finished first = RunProgram(words, folder.path());
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_GT(std::stod(ValueOf(folder.Read("run/summary.json"), "valid_accuracy")), 0.95);
  const Finished again = RunProgram(words, folder.path());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const Finished both = RunProgram({"train", "rows.svm", "--stream", "--no-cache"}, folder.path());
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("leave out --no-cache"), std::string::npos) << both.err;
}

TEST(RowWeights, DecideWhatIsLearnt) {
  const TemporaryFolder folder;
  // Every x has one label with weight 1 and the other with weight 0.
  std::string rows = "x,w,y\n";
  for (int i = 0; i < 2000; ++i) {
    const int x = i / 2 % 2;
    rows +=
        std::to_string(x) + "," + (i % 2 == x ? "1" : "0") + "," + (i % 2 ? "yes" : "no") + "\n";
  }
  folder.Write("rows.csv", rows);
  const Finished run = RunProgram(
      {"train", "rows.csv", "--weight", "w", "--hidden", "8", "--epochs", "20", "--out", "run"},
      folder.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  folder.Write("new.csv", "x,z\n0,1\n1,1\n");
  const Finished predicted =
      RunProgram({"predict", "run/model.safetensors", "new.csv"}, folder.path());
  EXPECT_EQ(predicted.out, "no\nyes\n") << predicted.err;
}

}  // namespace
}  // namespace hogbatch
