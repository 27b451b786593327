// Runs that are killed, resumed and started twice, as users do it.
#include "cli/resume.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/files.h"
#include "cli/sweep/sweep_files.h"
#include "core/error.h"
#include "tests/support/process.h"
#include "training/checkpoint/checkpoint_file.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

std::string Content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class Resumed : public testing::Test {
 protected:
  Resumed() {
    folder_ =
        fs::path(testing::TempDir()) /
        (std::string("resumed-") + testing::UnitTest::GetInstance()->current_test_info()->name() +
         "-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream data(folder_ / "rows.csv");
    for (int i = 0; i < 2000; ++i) {
      data << i % 7 << "," << i * i % 11 << "," << (i % 7 + i * i % 11 > 8 ? 1 : 0) << "\n";
    }
  }
  ~Resumed() override { fs::remove_all(folder_); }

  std::vector<std::string> TrainArguments(const std::string& out, const std::string& epochs) const {
    return {"train",        "rows.csv", "--out",         out,       "--epochs",           epochs,
            "--algorithm",  "sync",     "--cpu-batch",   "16",      "--hidden",           "16,16",
            "--devices",    "cpu:2",    "--optimizer",   "adam",    "--checkpoint-every", "0.1",
            "--eval-every", "20",       "--lr-schedule", "constant"};
  }
  Finished Train(const std::vector<std::string>& arguments) const {
    return RunProgram(arguments, folder_.string());
  }
  // Trains until there is a checkpoint, and kills it.
  void Kill(const std::vector<std::string>& arguments, const std::string& out) const {
    Process process(arguments, folder_.string());
    while (process.running() && ListCheckpoints(folder_ / out).size() < 2) ::usleep(2000);
    process.Signal(SIGKILL);
    process.Wait();
  }

  fs::path folder_;
};

TEST_F(Resumed, SynchronousRunEndsWithTheBitsOfTheUnbrokenOne) {
  ASSERT_EQ(Train(TrainArguments("whole", "60")).exit_code, 0);
  Kill(TrainArguments("killed", "1000000"), "killed");
  ASSERT_FALSE(fs::exists(folder_ / "killed" / "summary.json"));
  const Finished resumed = Train({"train", "--resume", "killed", "--epochs", "60"});
  // A fast machine may have passed epoch 60 before it was killed; then nothing is left to train.
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("resumed   killed at epoch"), std::string::npos) << resumed.out;
  if (Content(folder_ / "killed" / "summary.json").find("\"epoch\": 60.0") == std::string::npos) {
    GTEST_SKIP() << "the run was beyond epoch 60 when it was killed";
  }
  EXPECT_TRUE(Content(folder_ / "whole" / "model.safetensors") ==
              Content(folder_ / "killed" / "model.safetensors"));
}

TEST_F(Resumed, RunMayTrainLonger) {
  ASSERT_EQ(Train(TrainArguments("run", "20")).exit_code, 0);
  const Finished longer = Train({"train", "--resume", "run", "--epochs", "40"});
  ASSERT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_NE(Content(folder_ / "run" / "summary.json").find("\"epoch\": 40.0"), std::string::npos);
}

TEST_F(Resumed, RecordsEveryReportOnce) {
  std::vector<std::string> arguments = TrainArguments("run", "20");
  arguments.emplace_back("--tensorboard");
  ASSERT_EQ(Train(arguments).exit_code, 0);
  const std::string before = Content(folder_ / "run" / "metrics.jsonl");
  const std::string events = Content(folder_ / "run" / kEventFile);
  ASSERT_EQ(Train({"train", "--resume", "run", "--epochs", "40", "--tensorboard"}).exit_code, 0);
  EXPECT_TRUE(Content(folder_ / "run" / "metrics.jsonl").starts_with(before));
  const std::string more = Content(folder_ / "run" / kEventFile);
  EXPECT_TRUE(more.starts_with(events) && more.size() > events.size());
}

// A line of it that does not end is not held in memory.
TEST_F(Resumed, HugeRecordIsCutInLittleMemory) {
  ASSERT_EQ(Train(TrainArguments("run", "2")).exit_code, 0);
  const std::string before = Content(folder_ / "run" / "metrics.jsonl");
  fs::resize_file(folder_ / "run" / "metrics.jsonl", std::uintmax_t{1} << 29);
  const Finished resumed = Train({"train", "--resume", "run", "--epochs", "4"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_LT(resumed.peak_megabytes, 500);
  const std::string after = Content(folder_ / "run" / "metrics.jsonl");
  EXPECT_TRUE(after.starts_with(before) && after.size() < 2 * before.size() + 4096);
}

// It was killed while it wrote a record.
TEST_F(Resumed, AddsEventsBehindTheLastWholeOne) {
  std::vector<std::string> arguments = TrainArguments("run", "20");
  arguments.emplace_back("--tensorboard");
  ASSERT_EQ(Train(arguments).exit_code, 0);
  const fs::path path = folder_ / "run" / kEventFile;
  const std::string events = Content(path);
  std::ofstream(path, std::ios::app) << "torn";
  ASSERT_EQ(Train({"train", "--resume", "run", "--epochs", "40", "--tensorboard"}).exit_code, 0);
  const std::string more = Content(path);
  ASSERT_GT(more.size(), events.size());
  EXPECT_TRUE(more.starts_with(events));
  EXPECT_EQ(more.substr(events.size(), 12), events.substr(0, 12)) << "each run begins alike";
}

TEST_F(Resumed, RefusesAnOptionThatMakesItAnotherRun) {
  ASSERT_EQ(Train(TrainArguments("run", "2")).exit_code, 0);
  const Finished refused = Train({"train", "--resume", "run", "--hidden", "8"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--hidden 8: the run in run has 16,16"), std::string::npos)
      << refused.err;
  EXPECT_EQ(Train({"train", "--resume", "run", "--hidden", "16,16"}).exit_code, 0);
}

TEST_F(Resumed, RefusesOtherRows) {
  ASSERT_EQ(Train(TrainArguments("run", "2")).exit_code, 0);
  const std::string options = Content(folder_ / "run" / "options.json");
  std::ofstream(folder_ / "rows.csv", std::ios::app) << "1,2,0\n";
  const Finished refused = Train({"train", "--resume", "run", "--epochs", "4"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("the data has changed"), std::string::npos) << refused.err;
  EXPECT_EQ(Content(folder_ / "run" / "options.json"), options);
}

TEST_F(Resumed, TakesTheCheckpointBeforeOneThatIsDamaged) {
  Kill(TrainArguments("run", "1000000"), "run");
  const std::vector<std::string> checkpoints = ListCheckpoints(folder_ / "run");
  ASSERT_GE(checkpoints.size(), 2u);
  std::fstream file(checkpoints.front(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-5, std::ios::end);
  file.put('\x7e');
  file.close();
  const Finished resumed = Train({"train", "--resume", "run", "--max-time", "0.1s"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("the checksum of"), std::string::npos) << resumed.err;
}

TEST_F(Resumed, AutoStartsANewRunWhereThereIsNone) {
  std::vector<std::string> arguments = TrainArguments("run", "2");
  arguments.insert(arguments.end(), {"--resume", "auto"});
  EXPECT_EQ(Train(arguments).exit_code, 0);
  const Finished again = Train(arguments);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("resumed   run at epoch 2"), std::string::npos) << again.out;
}

TEST_F(Resumed, AutoTakesTheLatestRunWhateverItsName) {
  const fs::file_time_type now = fs::file_time_type::clock::now();
  for (const auto& [name, age] : {std::pair("zfirst", 2), {"2026-11-19-054546", 1}, {"1", 1}}) {
    const fs::path run = folder_ / "runs" / name;
    fs::create_directories(run / "checkpoints");
    for (const fs::path& file :
         {run / "checkpoints/checkpoint-1.safetensors", run / "sweep.json"}) {
      std::ofstream(file) << "not looked into";
      fs::last_write_time(file, now - std::chrono::hours(age));
    }
  }
  fs::create_directories(folder_ / "runs/other");
  std::ofstream(folder_ / "runs/other/checkpoints") << "a file in its place";
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  Console console(Verbosity::kSilent);
  EXPECT_EQ(FindRun({.resume = "auto"}, console), "runs/2026-11-19-054546");
  EXPECT_EQ(LatestFolder(SweepTime), "runs/2026-11-19-054546");
  fs::current_path(before);
}

TEST_F(Resumed, PlantedCheckpointCostsNoOther) {
  ASSERT_EQ(Train(TrainArguments("run", "2")).exit_code, 0);
  const fs::path planted = CheckpointPath((folder_ / "run").string(), 999'999'999'999'999);
  std::ofstream(planted).flush();
  const fs::path folder = CheckpointPath((folder_ / "run").string(), 999'999'999'999'998);
  fs::create_directories(folder / "inside");
  const Finished resumed = Train({"train", "--resume", "run", "--epochs", "4"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("it has only 0 bytes; taking the one before it"), std::string::npos)
      << resumed.err;
  EXPECT_FALSE(fs::exists(planted));
  EXPECT_TRUE(fs::exists(folder / "inside"));
  const Finished again = Train({"train", "--resume", "run", "--epochs", "6"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err, "");
  EXPECT_NE(again.out.find("resumed   run at epoch 4"), std::string::npos) << again.out;
}

TEST_F(Resumed, CheckpointThatNoNumberFollowsIsRefused) {
  ASSERT_EQ(Train(TrainArguments("run", "2")).exit_code, 0);
  const std::string run = (folder_ / "run").string();
  const std::string planted = CheckpointPath(run, 999'999'999'999'999);
  fs::copy_file(ListCheckpoints(run).front(), planted);
  const Finished refused = Train({"train", "--resume", "run", "--epochs", "4"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("has a number that no run reaches; remove it"), std::string::npos)
      << refused.err;
  fs::remove(planted);
  EXPECT_EQ(Train({"train", "--resume", "run", "--epochs", "4"}).exit_code, 0);
}

TEST_F(Resumed, CheckpointWithANumberBeyondAllIsNone) {
  fs::create_directories(folder_ / "run" / "checkpoints");
  std::ofstream(CheckpointPath((folder_ / "run").string(), INT64_MAX)) << "planted";
  EXPECT_TRUE(ListCheckpoints(folder_ / "run").empty());
}

TEST_F(Resumed, AutoRefusesAFolderOfCheckpointsThatCannotBeRead) {
  fs::create_directories(folder_ / "run");
  std::ofstream(folder_ / "run" / "checkpoints") << "a file in its place";
  std::vector<std::string> arguments = TrainArguments("run", "2");
  arguments.insert(arguments.end(), {"--resume", "auto"});
  const Finished refused = Train(arguments);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("run/checkpoints cannot be read: "), std::string::npos) << refused.err;
  EXPECT_TRUE(fs::is_regular_file(folder_ / "run" / "checkpoints"));
  EXPECT_FALSE(fs::exists(folder_ / "run" / "model.safetensors"));
}

// While it lives, this process has no rights of root, who may read and remove anything.
class OrdinaryUser {
 public:
  OrdinaryUser() : before_(::geteuid()) {
    if (before_ == 0 && ::seteuid(65534) != 0) failed_ = true;
  }
  ~OrdinaryUser() {
    if (::seteuid(before_) != 0) ADD_FAILURE() << "the tests are no longer run by root";
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  bool failed() const { return failed_; }

 private:
  uid_t before_;
  bool failed_ = false;
};

TEST_F(Resumed, CheckpointsWithoutAccessAreNeitherMissedNorKeptForANewRun) {
  const fs::path checkpoints = folder_ / "run" / "checkpoints";
  fs::create_directories(checkpoints);
  std::ofstream(checkpoints / "checkpoint-1.safetensors") << "of the earlier run";
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(folder_ / "run", fs::perms(0755));
  for (const auto mode : {0555, 0000}) {
    fs::permissions(checkpoints, fs::perms(mode));
    const OrdinaryUser user;
    if (user.failed()) GTEST_SKIP() << "root cannot become another user here";
    if (mode == 0555) {
      EXPECT_EQ(ListCheckpoints(folder_ / "run").size(), 1u);
    } else {
      EXPECT_THROW(ListCheckpoints(folder_ / "run"), UserError);
    }
    EXPECT_THROW(SetAsideOldRun((folder_ / "run").string()), UserError);
  }
  fs::permissions(checkpoints, fs::perms(0755));
  EXPECT_EQ(ListCheckpoints(folder_ / "run").size(), 1u);
}

// Going on from the one before it would replace it.
TEST_F(Resumed, CheckpointThatMayBeWholeIsNotPassedOver) {
  ASSERT_EQ(Train(TrainArguments("run", "2")).exit_code, 0);
  const std::string run = (folder_ / "run").string();
  const std::string newest = ListCheckpoints(run).front();
  const std::string newer = CheckpointPath(run, CheckpointNumber(newest) + 1);
  std::string content = Content(newest);
  const std::string version = R"("version":"2")";
  ASSERT_NE(content.find(version), std::string::npos);
  content.replace(content.find(version), version.size(), R"("version":"9")");
  std::ofstream(newer, std::ios::binary) << content;
  const Finished refused = Train({"train", "--resume", "run", "--epochs", "4"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("written by a newer hogbatch"), std::string::npos) << refused.err;
  EXPECT_TRUE(Content(newer) == content);
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(folder_ / "run", fs::perms(0755));
  fs::permissions(newer, fs::perms(0000));
  const OrdinaryUser user;
  if (user.failed()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_THROW(NewestCheckpoint(run, [](std::string_view) {}), UserError);
}

TEST_F(Resumed, FolderWithoutCheckpointIsAUsersMistake) {
  const Finished refused = Train({"train", "--resume", "nowhere"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("nowhere holds no checkpoint"), std::string::npos) << refused.err;
}

TEST_F(Resumed, SecondRunInAFolderIsRefusedWithTheProcessOfTheFirst) {
  Process first(TrainArguments("run", "1000000"), folder_.string());
  while (first.running() && ListCheckpoints(folder_ / "run").empty()) ::usleep(2000);
  const Finished second = Train(TrainArguments("run", "1"));
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Wait().exit_code, 130);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_NE(second.err.find("another run writes into run (process "), std::string::npos)
      << second.err;
}

TEST_F(Resumed, FolderUsedAgainIsNeverWithoutAModel) {
  ASSERT_EQ(Train(TrainArguments("run", "2")).exit_code, 0);
  const std::string old = Content(folder_ / "run" / "model.safetensors");
  Process again(TrainArguments("run", "1000000"), folder_.string());
  const auto has_begun = [&] {
    return fs::exists(folder_ / "run" / "model.previous.safetensors") &&
           !ListCheckpoints(folder_ / "run").empty();
  };
  while (again.running() && !has_begun()) {
    ASSERT_TRUE(fs::exists(folder_ / "run" / "model.safetensors"));
  }
  again.Signal(SIGKILL);
  again.Wait();
  EXPECT_TRUE(fs::exists(folder_ / "run" / "model.safetensors"));
  EXPECT_TRUE(Content(folder_ / "run" / "model.previous.safetensors") == old);
}

TEST_F(Resumed, WhatAKilledRunLeftHalfWrittenIsRemoved) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const std::string half = "/model.safetensors." + std::to_string(gone) + "-0.partial";
  // Of a run, a sweep and its trials, an ensemble, and the jobs of a queue.
  const std::string inner[] = {"",          "/checkpoints",          "/members",
                               "/trials",   "/trials/3/checkpoints", "/ensemble/members",
                               "/ensemble", "/job/checkpoints",      "/.jobs"};
  const std::string run = (folder_ / "run").string();
  for (const std::string& folder : inner) {
    fs::create_directories(run + folder);
    std::ofstream(run + folder + half) << "half";
  }
  fs::create_directories(run + "/other");
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", run + "/link");
  const std::string others[] = {run + "/film.partial", run + "/other" + half,
                                (folder_ / "elsewhere").string() + half};
  for (const std::string& file : others) std::ofstream(file) << "somebody else's";
  const FolderLock lock(run);
  for (const std::string& folder : inner) EXPECT_FALSE(fs::exists(run + folder + half)) << folder;
  for (const std::string& file : others) EXPECT_TRUE(fs::exists(file)) << file;
}

// The one that gives a folder up removes the lock, while the other may have opened it.
TEST_F(Resumed, FolderThatIsRemovedMeanwhileIsLockedByOneRunOnly) {
  const std::string run = (folder_ / "run").string();
  std::atomic<int> holders = 0;
  const auto lock_often = [&] {
    for (int held = 0; held < 300;) {
      try {
        const FolderLock lock(MakeOutputFolder(run));
        EXPECT_EQ(++holders, 1);
        ++held;
        --holders;
        RemoveUnusedFolder(run);
      } catch (const UserError&) {  // the other one has it, or has just removed it
      }
    }
  };
  const std::jthread other(lock_often);
  lock_often();
}

TEST_F(Resumed, SweepsAndComparisonsLockTheirFolders) {
  ASSERT_EQ(Train({"train", "rows.csv", "--ensemble", "2", "--epochs", "1", "--hidden", "3",
                   "--devices", "cpu:1", "--out", "run"})
                .exit_code,
            0);
  const FolderLock lock((folder_ / "run").string());
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"sweep", "--resume", "run"}, {"compare", "rows.csv", "--out", "run"}}) {
    const Finished refused = Train(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("another run writes into run"), std::string::npos) << refused.err;
  }
}

}  // namespace
}  // namespace hogbatch
