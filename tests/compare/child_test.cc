#include "compare/runs/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compare/runs/option_texts.h"
#include "core/error.h"
#include "tests/support/process.h"

namespace hogbatch::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ChildProcess : public testing::Test {
 protected:
  ChildCommand Shell(const std::string& script, double limit = 60) const {
    return {.words = {"sh", "-c", script},
            .out = folder_.path() + "/out",
            .err = folder_.path() + "/err",
            .limit_seconds = limit};
  }
  static bool Never() { return false; }

  TemporaryFolder folder_;
};

TEST_F(ChildProcess, TellsExitCodeAndWhatWasPrinted) {
  const auto result = RunChild(Shell("echo out; echo err >&2; exit 3"), Never);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(folder_.Read("out"), "out\n");
  EXPECT_EQ(LastLines(folder_.path() + "/err", 5), "err");
}

TEST_F(ChildProcess, MeasuresProcessorTimeAndMemory) {
  const auto result = RunChild(Shell("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"), Never);
  EXPECT_GT(result->cpu_seconds, 0);
  EXPECT_GT(result->peak_bytes, 0);
  EXPECT_GE(result->wall_seconds, 0);
}

TEST_F(ChildProcess, IsEndedWithItsOwnChildrenWhenItsTimeIsOver) {
  const auto result = RunChild(Shell("sleep 600 & wait", 0.2), Never);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->signal, SIGTERM);
}

TEST_F(ChildProcess, GoesAwayWhenInterruptedEvenIfItWillNotListen) {
  int asked = 0;
  const auto interrupted = [&] { return ++asked > 1; };
  EXPECT_FALSE(RunChild(Shell("trap '' TERM; while :; do sleep 0.1; done"), interrupted));
}

TEST_F(ChildProcess, AProgramThatIsNotThereIsAnError) {
  ChildCommand command = Shell("");
  command.words = {"no-such-program-here"};
  try {
    RunChild(command, Never);
    FAIL() << "it was started";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot start no-such-program-here: No such file"));
  }
}

TEST_F(ChildProcess, LastLinesLeaveOutEmptyOnes) {
  folder_.Write("text", "one\ntwo\n\n  \nthree\n\n");
  EXPECT_EQ(LastLines(folder_.path() + "/text", 2), "two\nthree");
  EXPECT_EQ(LastLines(folder_.path() + "/missing", 2), "");
}

TEST(OptionTexts, BecomeTheWordsThatDifferFromTheDefaults) {
  const OptionTexts defaults = {{"hidden", "512,512"}, {"no-pin", "false"}, {"test", ""}};
  EXPECT_THAT(ArgumentsFor({{"hidden", "8"}, {"no-pin", "true"}, {"test", ""}}, defaults),
              ElementsAre("--hidden", "8", "--no-pin"));
}

TEST(OptionTexts, AreQuotedForAShell) {
  EXPECT_EQ(CommandLine({"a", "b c", "it's", "--x=1", ""}), "a 'b c' 'it'\\''s' --x=1 ''");
}

}  // namespace
}  // namespace hogbatch::compare
