// Cross-validation as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "tests/cli/sweep/sweep_program.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

using FoldsProgram = SweepProgram;

TEST_F(FoldsProgram, ReportsMeanAndSpreadAndKeepsTheModelOfAFold) {
  const Finished trained = Run({"train", "rows.svm", "--folds", "4", "--hidden", "8", "--epochs",
                                "2", "--devices", "cpu:2", "--out", "f"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("folds     4 trainings, each validated on another part"));
  EXPECT_THAT(trained.out, HasSubstr("folds     4 folds: validation loss "));
  EXPECT_THAT(trained.out, HasSubstr(" ± "));
  EXPECT_FALSE(folder_.Has("f/members/1.safetensors"));
  EXPECT_EQ(Run({"eval", "f/model.safetensors", "rows.svm"}).exit_code, 0);

  // The mean is that of four trainings, each of which the program makes alone, too.
  const std::vector<std::string> lines = SplitLines(folder_.Read("f/trials.jsonl"));
  ASSERT_THAT(lines, SizeIs(4));
  double sum = 0;
  for (const std::string& line : lines) {
    const auto trial = nlohmann::json::parse(line);
    sum += trial["valid_loss"].get<double>();
    const Finished alone = Run({"sweep", "rows.svm", "--fold", trial["varied"]["fold"], "--hidden",
                                "8", "--epochs", "2", "--devices", "cpu:1", "--json", "--out",
                                fmt::format("alone-{}", trial["trial"].get<int>())});
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    const auto result = nlohmann::json::parse(alone.out);
    EXPECT_EQ(result["examples"], 2 * 1500);
    EXPECT_EQ(result["valid_loss"], trial["valid_loss"]);
  }
  const std::vector<std::string> csv = SplitLines(folder_.Read("f/folds.csv"));
  ASSERT_THAT(csv, SizeIs(2));
  EXPECT_THAT(csv[0], HasSubstr("setting,folds,valid_loss_mean,valid_loss_deviation"));
  EXPECT_NEAR(std::stod(csv[1].substr(4)), sum / 4, 1e-5);
}

TEST_F(FoldsProgram, ComparesTheSettingsOfASweepByTheirMeans) {
  const Finished swept =
      Run({"sweep", "rows.svm", "--folds", "3", "--lr", "0.0001|0.05", "--hidden", "8", "--epochs",
           "2", "--devices", "cpu:2", "--out", "s"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_THAT(swept.out, HasSubstr("folds     3 trainings of each of 2 settings (grid of lr)"));
  EXPECT_THAT(swept.out, HasSubstr("best      --lr 0.05"));
  EXPECT_THAT(swept.out, HasSubstr("again     hogbatch train rows.svm"));
  EXPECT_THAT(SplitLines(folder_.Read("s/folds.csv")), SizeIs(3));
  EXPECT_THAT(SplitLines(folder_.Read("s/trials.csv")), SizeIs(7));
  const Finished json = Run({"sweep", "rows.svm", "--folds", "2", "--hidden", "8", "--epochs", "1",
                             "--json", "--out", "j"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(nlohmann::json::parse(json.out)["folds"], 2);
}

TEST_F(FoldsProgram, GoesOnAfterItWasKilled) {
  const std::vector<std::string> arguments = {
      "train", "rows.svm", "--folds",   "4",     "--hidden",           "16", "--epochs", "60",
      "--out", "k",        "--devices", "cpu:2", "--checkpoint-every", "0.1"};
  Process process(arguments, folder_.path());
  while (process.running() && !folder_.Has("k/trials/1/checkpoints/checkpoint-1.safetensors")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.Signal(SIGKILL);
  process.Wait();
  const Finished other = Run({"train", "--resume", "k"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("go on with it: hogbatch sweep --resume k"));
  const Finished resumed = Run({"sweep", "--resume", "k"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("folds     4 folds: validation loss "));
  EXPECT_TRUE(folder_.Has("k/model.safetensors"));
}

TEST_F(FoldsProgram, JudgesATrainingAtItsOwnLearningRate) {
  const Finished run = Run({"train", "rows.svm", "--folds", "3", "--hidden", "8", "--task",
                            "regress", "--lr", "1000", "--epochs", "3", "--out", "d"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, HasSubstr("3 diverged"));
  EXPECT_THAT(run.err, HasSubstr("so there is no mean and no model"));
  EXPECT_FALSE(folder_.Has("d/model.safetensors"));
}

TEST_F(FoldsProgram, ReportsWhatThereIsWhenTheTimeIsUp) {
  const Finished run = Run({"train", "rows.svm", "--folds", "2", "--hidden", "64,64", "--epochs",
                            "100000", "--max-time", "0.3s", "--json", "--out", "t"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("so there is no mean"));
  EXPECT_EQ(nlohmann::json::parse(run.out)["is_complete"], false);
  const Finished again = Run({"train", "rows.svm", "--folds", "2", "--hidden", "64,64", "--epochs",
                              "100000", "--max-time", "0.5s", "--resume", "auto", "--out", "t"});
  EXPECT_THAT(again.out, HasSubstr("results   t")) << again.err;
}

TEST_F(FoldsProgram, SaysWhatDoesNotGoTogether) {
  const auto refused = [&](std::vector<std::string> options, const char* sentence) {
    options.insert(options.begin(), {"train", "rows.svm", "--out", "r"});
    const Finished run = Run(options);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(sentence));
    EXPECT_FALSE(folder_.Has("r"));
  };
  refused({"--folds", "1"}, "there are at least two folds");
  refused({"--folds", "5", "--ensemble", "3"}, "--ensemble and --folds");
  refused({"--folds", "5", "--fold", "1/5"}, "leave out --fold or --folds");
  refused({"--folds", "5", "--valid", "rows.svm"}, "leave out --valid");
  refused({"--folds", "5", "--valid-fraction", "0.2"}, "leave out --valid-fraction");
  refused({"--folds", "5", "--split-time", "day"}, "leave out --split-time");
  refused({"--folds", "5", "--stream"}, "leave out --stream");
  refused({"--folds", "5", "--report"}, "--folds trains several");
  refused({"--folds", "1001"}, "--folds");
  refused({"--folds", "5", "--memory-limit", "100K"}, "each of 5 folds has rows of its own");
  folder_.Write("start.safetensors", "");
  refused({"--folds", "5", "--init", "start.safetensors"}, "leave out --init or --folds");
  refused({"--fold", "6/5"}, "--fold 6/5: write which fold of how many");
  const Finished piped = Run({"train", "-", "--folds", "5", "--out", "r"});
  EXPECT_EQ(piped.exit_code, 2);
  EXPECT_THAT(piped.err, HasSubstr("a pipe can be read only once; name a file"));
  const Finished asha = Run({"sweep", "rows.svm", "--folds", "5", "--search", "asha", "--lr",
                             "log:0.01:0.1", "--out", "r"});
  EXPECT_EQ(asha.exit_code, 2);
  EXPECT_THAT(asha.err, HasSubstr("--search random"));
}

}  // namespace
}  // namespace hogbatch
