// hogbatch sweep as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/options/parse.h"
#include "cli/sweep/sweep_report.h"
#include "core/error.h"
#include "core/text.h"
#include "tests/cli/sweep/sweep_program.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

SweepCommandOptions ParseSweepOptions(const std::vector<std::string>& arguments) {
  return std::get<SweepCommandOptions>(Parse(arguments));
}

TEST(SweepOptions, TakeListsAndDistributionsAndOneValue) {
  const SweepCommandOptions options =
      ParseSweepOptions({"sweep", "mine.csv", "--lr", "log:1e-3:1", "--hidden", "8|16,16",
                         "--epochs", "3", "--no-pin", "--search", "random", "--trials", "5"});
  const SweepSpec spec = options.training.Spec(options.search);
  EXPECT_EQ(spec.base.data, "mine.csv");
  EXPECT_EQ(spec.base.epochs, 3);
  EXPECT_TRUE(spec.base.no_pin);
  EXPECT_THAT(spec.varied, SizeIs(2));
  EXPECT_THAT(MakeTrials(spec), SizeIs(5));
}

TEST(SweepOptions, AreRefusedAsTheyAreParsed) {
  EXPECT_THAT([] { ParseSweepOptions({"sweep", "--lr", "0.1|"}); },
              ThrowsMessage<UserError>(HasSubstr("a value is missing")));
  EXPECT_THAT([] { ParseSweepOptions({"sweep", "--hiden", "8|16"}); },
              ThrowsMessage<UserError>(HasSubstr("did you mean --hidden?")));
}

TEST(SweepOptions, AreRefusedWhenTheyMeanNothing) {
  const auto why_not = [](const char* name, const char* text) {
    return [=] { ParseSweepOptions({"sweep", name, text}); };
  };
  EXPECT_THAT(why_not("--lr", ""), ThrowsMessage<UserError>(HasSubstr("--lr needs a value")));
  EXPECT_THAT(why_not("--lr", "0.01,0.1"),
              ThrowsMessage<UserError>(HasSubstr("a list of numbers has | between them")));
  EXPECT_THAT(why_not("--trials", "1000000000"),
              ThrowsMessage<UserError>(HasSubstr("--trials must be between 0 and 10000")));
  // Its losses cannot be compared.
  EXPECT_THAT(why_not("--class-weights", "none|1=0.001"),
              ThrowsMessage<UserError>(HasSubstr("--class-weights cannot vary")));
}

TEST(SweepReport, NamesTheCommandThatTrainsATrialAlone) {
  Trial trial;
  trial.spec.data = "my file.csv";
  trial.spec.learning_rate.lr = 0.25;
  trial.spec.no_pin = true;
  EXPECT_EQ(TrainCommand(trial, DeviceKind::kCpu),
            "hogbatch train 'my file.csv' --lr 0.25 --devices cpu:1 --algorithm hogbatch --no-pin");
}

TEST_F(SweepProgram, LeavesTheBestModelAndItsRecords) {
  const Finished swept =
      Run({"sweep", "rows.svm", "--lr", "0.001|0.05", "--seed", "1|2", "--hidden", "8", "--epochs",
           "2", "--devices", "cpu:2", "--out", "s"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_THAT(swept.out, HasSubstr("4 trials (grid of lr, seed) in 1 group of equal shape"));
  EXPECT_THAT(swept.out, HasSubstr("4 trials in 2 blocks of 2 lanes on 2 devices"));
  EXPECT_THAT(swept.out, HasSubstr("again     hogbatch train rows.svm --split-seed 1 --hidden 8"));
  EXPECT_THAT(SplitLines(folder_.Read("s/trials.csv")), SizeIs(5));
  EXPECT_THAT(SplitLines(folder_.Read("s/trials.jsonl")), SizeIs(4));
  EXPECT_THAT(folder_.Read("s/sweep.html"), HasSubstr("Effect of lr"));
  EXPECT_THAT(folder_.Read("s/sweep.svg"), HasSubstr("Validation loss of all trials"));
  EXPECT_FALSE(folder_.Has("s/trials"));
  const Finished eval = Run({"eval", "s/model.safetensors", "rows.svm", "--devices", "cpu:1"});
  EXPECT_EQ(eval.exit_code, 0) << eval.err;

  const Finished other = Run({"sweep", "rows.svm", "--lr", "1|2", "--out", "s"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("the folder holds a sweep"));
  const Finished changed = Run({"sweep", "--resume", "s", "--lr", "1|2"});
  EXPECT_THAT(changed.err, HasSubstr("a resumed sweep keeps it"));
  const Finished again = Run({"sweep", "--resume", "s"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("ended     4 of 4 trials done"));
}

TEST_F(SweepProgram, SaysWhyATrialTooLargeForAnyDeviceFailed) {
  const Finished swept = Run({"sweep", "rows.svm", "--hidden", "8|1000000,1000000", "--epochs", "1",
                              "--devices", "cpu:1", "--out", "l"});
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_THAT(swept.err, HasSubstr("trial 2 has failed: this network needs"));
  EXPECT_THAT(swept.out, HasSubstr("ended     1 of 2 trials done, 1 failed"));
}

// From its options, through its rungs, to its files.
TEST_F(SweepProgram, SearchesBySuccessiveHalving) {
  const std::vector<std::string> command = {
      "sweep",    "rows.svm", "--search",  "asha",  "--lr",     "log:1e-5:0.1",
      "--trials", "6",        "--eta",     "2",     "--epochs", "4",
      "--hidden", "8",        "--devices", "cpu:2", "--out",    "a"};
  const Finished swept = Run(command);
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_THAT(swept.out, HasSubstr("6 trials (asha of lr)"));
  EXPECT_THAT(swept.out, HasSubstr("rungs of 1, 2, 4 epochs"));
  const std::string trials = folder_.Read("a/trials.jsonl");
  EXPECT_THAT(trials, HasSubstr(R"("state":"done")"));
  EXPECT_THAT(trials, HasSubstr(R"("state":"stopped")"));
  EXPECT_THAT(trials, HasSubstr(R"("rung":3)"));
  EXPECT_TRUE(folder_.Has("a/model.safetensors"));
  EXPECT_FALSE(folder_.Has("a/trials"));
  const Finished trained = Run({"train", "rows.svm", "--hidden", "8", "--out", "a"});
  EXPECT_EQ(trained.exit_code, 2);
  EXPECT_THAT(trained.err, HasSubstr("the folder holds a sweep"));
  const Finished unused = Run({"sweep", "rows.svm", "--lr", "0.1|0.2", "--eta", "2"});
  EXPECT_EQ(unused.exit_code, 2);
  EXPECT_THAT(unused.err, HasSubstr("--eta: it is for --search asha"));
}

TEST_F(SweepProgram, GoesOnWithSuccessiveHalvingAfterItWasKilled) {
  StopAfterCheckpoint({"sweep",
                       "rows.svm",
                       "--search",
                       "asha",
                       "--lr",
                       "log:1e-4:0.1",
                       "--trials",
                       "4",
                       "--eta",
                       "2",
                       "--epochs",
                       "80",
                       "--min-epochs",
                       "20",
                       "--hidden",
                       "16",
                       "--devices",
                       "cpu:1",
                       "--out",
                       "h",
                       "--checkpoint-every",
                       "0.02"},
                      "h", 2, SIGKILL);
  const Finished resumed = Run({"sweep", "--resume", "h"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.err, "");
  EXPECT_THAT(folder_.Read("h/trials.jsonl"), HasSubstr(R"("epoch":80.0)"));
  for (const std::string& line : SplitLines(folder_.Read("h/trials.jsonl"))) {
    const auto trial = nlohmann::json::parse(line);
    const std::vector<double> rungs = {20, 40, 80};
    ASSERT_GE(trial["rung"], 1) << line;
    EXPECT_EQ(trial["epoch"], rungs[trial["rung"].get<std::size_t>() - 1]) << line;
  }
}

TEST_F(SweepProgram, GoesOnAfterItWasInterrupted) {
  const Finished stopped = StopAfterCheckpoint(
      {"sweep", "rows.svm", "--lr", "0.001|0.01|0.05", "--hidden", "16", "--epochs", "200",
       "--devices", "cpu:1", "--out", "i", "--checkpoint-every", "0.05"},
      "i", 1, SIGINT);
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("hogbatch sweep --resume i"));
  EXPECT_TRUE(folder_.Has("i/model.safetensors"));
  const Finished resumed = Run({"sweep", "--resume", "i"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("3 of 3 trials done"));
}

// Lanes of a block go on from its checkpoint.
TEST_F(SweepProgram, GoesOnAfterItWasKilled) {
  StopAfterCheckpoint({"sweep", "rows.svm", "--lr", "0.001|0.01|0.05", "--hidden", "16", "--epochs",
                       "150", "--devices", "cpu:1", "--out", "k", "--checkpoint-every", "0.05"},
                      "k", 3, SIGKILL);
  const Finished resumed = Run({"sweep", "--resume", "k"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("3 of 3 trials done"));
  for (const std::string& line : SplitLines(folder_.Read("k/trials.jsonl"))) {
    EXPECT_THAT(line, HasSubstr("\"state\":\"done\""));
    EXPECT_THAT(line, HasSubstr("\"epoch\":150.0"));
  }
}

TEST_F(SweepProgram, ShowsATableOnATerminal) {
  Process process({"sweep", "rows.svm", "--lr", "0.01|0.05", "--hidden", "8", "--epochs", "2",
                   "--devices", "cpu:1", "--out", "t"},
                  folder_.path(), Process::Output::kTerminal);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("trial"));
  EXPECT_THAT(finished.out, HasSubstr(" of 2 trials done, "));
}

}  // namespace
}  // namespace hogbatch
