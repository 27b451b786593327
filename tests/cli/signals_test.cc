// Signals that ask a training to stop, as terminals, schedulers and nohup send them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

void Pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// An endless training. Its summary goes into a pipe, so that it cannot end by itself before the
// test reads: signals then meet a program that is still saving, however fast the machine is.
class Signals : public testing::Test {
 protected:
  void SetUp() override { folder_.Write("data", TwoClasses(400)); }

  Process Start(int ignored_signal = 0) {
    return Process({"train", "data", "--hidden", "8", "--epochs", "1000000", "--out", "o",
                    "--report-every", "0.05", "--quiet", "--devices", "cpu:1"},
                   folder_.path(), Process::Output::kCaptured, ignored_signal);
  }

  void AwaitTraining(Process& process) {
    while (process.running() && folder_.Read("o/metrics.jsonl").empty()) Pause(20);
    ASSERT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
  }

  // Reads the summary until the program ends, and expects that it stopped in good order.
  void ExpectSaves(Process& process) {
    const int descriptor = ::open(pipe_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    std::string summary;
    const auto drain = [&] {
      char part[4096];
      for (ssize_t got; (got = ::read(descriptor, part, sizeof part)) > 0;) {
        summary.append(part, static_cast<std::size_t>(got));
      }
    };
    for (; process.running(); Pause(5)) drain();
    drain();
    ::close(descriptor);
    const Finished finished = process.Wait();
    EXPECT_EQ(finished.exit_code, 130) << finished.err;
    EXPECT_EQ(ValueOf(summary, "stopped_because"), "interrupted");
    EXPECT_EQ(RunProgram({"eval", "o/model.safetensors", "data"}, folder_.path()).exit_code, 0);
  }

  TemporaryFolder folder_;
  const std::string pipe_ = folder_.path() + "/o/summary.json";
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

TEST_F(Signals, SighupStaysIgnoredUnderNohup) {
  Process process = Start(SIGHUP);
  AwaitTraining(process);
  process.Signal(SIGHUP);
  const std::size_t reports = folder_.Read("o/metrics.jsonl").size();
  while (process.running() && folder_.Read("o/metrics.jsonl").size() < 2 * reports + 1000) {
    Pause(20);
  }
  EXPECT_TRUE(process.running()) << "training goes on";
  process.Signal(SIGTERM);
  ExpectSaves(process);
}

}  // namespace
}  // namespace hogbatch
