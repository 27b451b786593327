// Signals that ask a training to stop, as terminals, schedulers and nohup send them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/process.h"
#include "training/checkpoint/checkpoint_file.h"

namespace hogbatch {
namespace {

constexpr std::size_t kNowhere = std::string::npos;

void Pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// An endless training. Its trace goes into a pipe that is full already, so that it cannot end by
// itself before the test reads: signals then meet a program that is still saving, however fast the
// machine is.
class Signals : public testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("data", TwoClasses(400));
    const std::string path = folder_.path() + "/pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    pipe_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(pipe_, 0);
    FillPipe();
  }
  void TearDown() override { ::close(pipe_); }

  void FillPipe() const {
    const std::string filler(4096, ' ');
    while (::write(pipe_, filler.data(), filler.size()) > 0) {
    }
  }

  Process Start(int ignored_signal = 0, Process::Group group = Process::Group::kOurs) {
    return Process({"train", "data", "--hidden", "8", "--epochs", "1000000", "--out", "o",
                    "--report-every", "0.05", "--quiet", "--devices", "cpu:1", "--trace", "pipe"},
                   folder_.path(), Process::Output::kCaptured, ignored_signal, group);
  }

  std::size_t RecordSize() const { return folder_.Read("o/metrics.jsonl").size(); }
  // Whether training goes on: many more reports come.
  bool GoesOn(Process& process) const {
    const std::size_t enough = 2 * RecordSize() + 1000;
    while (process.running() && RecordSize() < enough) Pause(20);
    return process.running();
  }

  void AwaitTraining(Process& process) {
    while (process.running() && folder_.Read("o/metrics.jsonl").empty()) Pause(20);
  }

  // Reads the trace until the program ends, and expects that it stopped in good order.
  void ExpectSaves(Process& process) {
    for (char part[4096]; process.running(); Pause(5)) {
      while (::read(pipe_, part, sizeof part) > 0) {
      }
    }
    const Finished finished = process.Wait();
    EXPECT_EQ(finished.exit_code, 130) << finished.err;
    EXPECT_EQ(ValueOf(folder_.Read("o/summary.json"), "stopped_because"), "interrupted");
    EXPECT_EQ(RunProgram({"eval", "o/model.safetensors", "data"}, folder_.path()).exit_code, 0);
  }

  TemporaryFolder folder_;
  int pipe_ = -1;
};

TEST_F(Signals, SigtermThenSighupStopsOnceAndSaves) {
  Process process = Start();
  AwaitTraining(process);
  process.Signal(SIGTERM);
  process.Signal(SIGHUP);
  ExpectSaves(process);
}

TEST_F(Signals, RepeatedSigtermIsIgnoredHoweverLate) {
  Process process = Start();
  AwaitTraining(process);
  process.Signal(SIGTERM);
  Pause(1200);
  process.Signal(SIGTERM);
  process.Signal(SIGINT);  // the first of its kind
  ExpectSaves(process);
}

TEST_F(Signals, TwoSigintsWithinASecondAreOne) {
  Process process = Start();
  AwaitTraining(process);
  process.Signal(SIGINT);
  Pause(20);
  process.Signal(SIGINT);
  ExpectSaves(process);
}

TEST_F(Signals, SigintASecondAfterTheFirstStopsAtOnce) {
  Process process = Start();
  AwaitTraining(process);
  process.Signal(SIGINT);
  // It ends although nobody reads the pipe.
  for (; process.running(); Pause(100)) process.Signal(SIGINT);
  EXPECT_EQ(process.Wait().exit_code, 130);
}

TEST_F(Signals, WhileDataIsReadLeaveNoFolder) {
  const std::string input = folder_.path() + "/stdin";
  ASSERT_EQ(::mkfifo(input.c_str(), 0600), 0);
  const int writer = ::open(input.c_str(), O_RDWR | O_CLOEXEC);  // nothing is ever written
  for (const int signal : {SIGINT, SIGTERM}) {
    Process process({"train", "-", "--out", "o", "--devices", "cpu:1"}, folder_.path());
    while (process.running() && !folder_.Has("o")) Pause(5);
    process.Signal(signal);
    EXPECT_EQ(process.Wait().signal, signal);
    EXPECT_FALSE(folder_.Has("o"));
  }
  ::close(writer);
}

// nohup ignores SIGHUP; a shell without job control ignores SIGINT for what it starts with `&`.
TEST_F(Signals, ThatWereIgnoredAtTheStartStayIgnored) {
  for (const int ignored : {SIGHUP, SIGINT}) {
    Process process = Start(ignored);
    AwaitTraining(process);
    process.Signal(ignored);
    EXPECT_TRUE(GoesOn(process)) << ignored;
    process.Signal(SIGTERM);
    ExpectSaves(process);
    std::filesystem::remove_all(folder_.path() + "/o");
    FillPipe();
  }
}

// Ctrl-Z, and fg after a while.
TEST_F(Signals, ThatStopAndContinueLeaveTheTrainingAsItWas) {
  Process process = Start(0, Process::Group::kOwn);
  AwaitTraining(process);
  process.Signal(SIGTSTP);
  // It stops at a moment of its own; from then on its record does not grow.
  for (std::size_t before = 0; before != RecordSize(); Pause(500)) before = RecordSize();
  ASSERT_TRUE(process.running());
  Pause(2000);
  process.Signal(SIGCONT);
  EXPECT_TRUE(GoesOn(process));
  process.Signal(SIGTERM);
  ExpectSaves(process);
  EXPECT_EQ(folder_.Read("stderr"), "") << "no worker is taken for one that hangs";
}

// As a pager that waits for a key. There are more workers than cores, which is warned of.
TEST_F(Signals, AndCheckpointsNeedNoReaderOfStandardOutput) {
  const std::string workers = std::to_string(std::thread::hardware_concurrency() + 1);
  for (const std::vector<std::string>& kind :
       {std::vector<std::string>{"--checkpoint-every", "0.1"}, {"--json"}}) {
    std::vector<std::string> arguments = {
        "train", "data", "--hidden",       "8",    "--epochs",  "1000000",
        "--out", "o",    "--report-every", "0.05", "--devices", "cpu:" + workers};
    arguments.insert(arguments.end(), kind.begin(), kind.end());
    Process process(arguments, folder_.path(), Process::Output::kStuck);
    AwaitTraining(process);
    const bool is_kept = kind.size() > 1;
    while (process.running() && is_kept && ListCheckpoints(folder_.path() + "/o").empty()) Pause(5);
    EXPECT_TRUE(GoesOn(process));
    process.Signal(SIGTERM);
    EXPECT_EQ(process.Wait().exit_code, 130);
    EXPECT_EQ(ValueOf(folder_.Read("o/summary.json"), "stopped_because"), "interrupted");
    EXPECT_EQ(RunProgram({"eval", "o/model.safetensors", "data"}, folder_.path()).exit_code, 0);
    std::filesystem::remove_all(folder_.path() + "/o");
  }
}

// A page of a mapped file that cannot be read would be a SIGBUS.
TEST(LostRows, OfTheCacheEndATrainingInASentenceWithTheBestModel) {
  for (const std::string rows : {"in memory", "--stream"}) {
    const TemporaryFolder folder;
    const ScopedVariable cache("XDG_CACHE_HOME", folder.path());
    folder.Write("data", TwoClasses(200'000));
    std::vector<std::string> arguments = {
        "train", "data",    "--hidden",           "8",    "--devices", "cpu:2", "--out",
        "o",     "--quiet", "--checkpoint-every", "1000", "--epochs"};
    if (rows == "--stream") arguments.insert(arguments.begin() + 2, rows);
    arguments.push_back("0.01");
    ASSERT_EQ(RunProgram(arguments, folder.path()).exit_code, 0);
    std::filesystem::remove_all(folder.path() + "/o");
    arguments.back() = "1000000";
    Process process(arguments, folder.path());
    const auto evaluated = [&] { return folder.Read("o/metrics.jsonl").find("valid") != kNowhere; };
    while (process.running() && !evaluated()) Pause(20);
    for (const auto& entry :
         std::filesystem::directory_iterator(folder.path() + "/hogbatch/data")) {
      std::filesystem::resize_file(entry.path(), 4096);
    }
    const Finished finished = process.Wait();
    EXPECT_EQ(finished.exit_code, 1) << finished.signal;
    EXPECT_NE(finished.err.find(".data became shorter or cannot be read; run the command again"),
              kNowhere)
        << finished.err;
    EXPECT_TRUE(ListCheckpoints(folder.path() + "/o").empty());
    EXPECT_EQ(RunProgram({"eval", "o/model.safetensors", "data"}, folder.path()).exit_code, 0);
    arguments.back() = "0.01";
    EXPECT_EQ(RunProgram(arguments, folder.path()).exit_code, 0);
  }
}

}  // namespace
}  // namespace hogbatch
