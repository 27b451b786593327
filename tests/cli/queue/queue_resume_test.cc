// Queues that go on, or refuse to, as users run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

class ResumedQueue : public testing::Test {
 protected:
  ResumedQueue() { folder_.Write("rows.svm", TwoClasses(1000)); }

  Finished Run(const std::vector<std::string>& arguments) const {
    return RunProgram(arguments, folder_.path());
  }
  std::string StateOf(std::size_t job) const {
    return nlohmann::json::parse(folder_.Read("q/queue.json"))["jobs"][job]["state"];
  }
  // As if the queue had been killed before it knew that the job was over.
  void SetState(const std::string& state) const {
    auto queue = nlohmann::json::parse(folder_.Read("q/queue.json"));
    queue["jobs"][0]["state"] = state;
    folder_.Write("q/queue.json", queue.dump());
  }
  bool HasCheckpoint(int number) const {
    return folder_.Has("q/a/checkpoints/checkpoint-" + std::to_string(number) + ".safetensors");
  }

  TemporaryFolder folder_;
};

TEST_F(ResumedQueue, LeavesAJobAloneThatItCannotGoOnWith) {
  folder_.Write("jobs", "[[job]]\nname = \"a\"\ndata = \"rows.svm\"\nhidden = 8\nepochs = 1\n");
  ASSERT_EQ(Run({"queue", "jobs", "--devices", "cpu:1", "--out", "q"}).exit_code, 0);
  ASSERT_TRUE(HasCheckpoint(1));
  const std::string options = folder_.Read("q/a/options.json");
  SetState("running");
  folder_.Write("rows.svm", TwoClasses(1001));
  const Finished refused = Run({"queue", "--resume", "q", "--devices", "cpu:1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the data has changed"));
  EXPECT_THAT(refused.err, HasSubstr("to begin the job anew, remove q/a/checkpoints"));
  EXPECT_EQ(StateOf(0), "failed");
  EXPECT_TRUE(HasCheckpoint(1));
  EXPECT_EQ(folder_.Read("q/a/options.json"), options);
  // With its rows it goes on: a job that begins removes its checkpoints.
  folder_.Write("rows.svm", TwoClasses(1000));
  const Finished retried = Run({"queue", "--resume", "q", "--retry", "a", "--devices", "cpu:1"});
  EXPECT_EQ(retried.exit_code, 0) << retried.err;
  EXPECT_EQ(StateOf(0), "done");
  EXPECT_TRUE(HasCheckpoint(1) && HasCheckpoint(2));
  // One that diverged begins anew.
  SetState("diverged");
  EXPECT_EQ(Run({"queue", "--resume", "q", "--retry", "a", "--devices", "cpu:1"}).exit_code, 0);
  EXPECT_FALSE(HasCheckpoint(2));
}

TEST_F(ResumedQueue, DoesNotForgetAJobWhoseFileIsGone) {
  folder_.Write("jobs.toml", "[[job]]\nname = \"a\"\ndata = \"nowhere.svm\"\n");
  EXPECT_EQ(Run({"queue", "jobs.toml", "--devices", "cpu:1", "--out", "q"}).exit_code, 2);
  EXPECT_FALSE(folder_.Has("q/a")) << "no file of it was written";
  SetState("running");
  std::filesystem::remove_all(folder_.path() + "/q/.jobs");
  const std::string record = folder_.Read("q/queue.json");
  const Finished refused = Run({"queue", "--resume", "q", "--devices", "cpu:1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("job a is in q/queue.json and not over, but no file"));
  EXPECT_EQ(folder_.Read("q/queue.json"), record);
}

TEST_F(ResumedQueue, LocksTheFoldersOfItsJobs) {
  folder_.Write("jobs.toml",
                "[[job]]\nname = \"a\"\ndata = \"rows.svm\"\nhidden = 8\nepochs = 1000000\n");
  Process queue(
      {"queue", "jobs.toml", "--devices", "cpu:1", "--out", "q", "--checkpoint-every", "0.05"},
      folder_.path());
  while (queue.running() && !HasCheckpoint(1)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const Finished second = Run({"train", "--resume", "q/a"});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("another run writes into q/a"));
  EXPECT_THAT(Run({"queue", "--resume", "q"}).err, HasSubstr("another run writes into q "));
  queue.Signal(SIGINT);
  EXPECT_EQ(queue.Wait().exit_code, 130);
  EXPECT_EQ(StateOf(0), "interrupted");
}

}  // namespace
}  // namespace hogbatch
