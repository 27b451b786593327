// Runs that go on in another folder than they began in, or after their files have moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "training/checkpoint/checkpoint_file.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

using Arguments = std::vector<std::string>;

class ResumedElsewhere : public testing::Test {
 protected:
  ResumedElsewhere() {
    fs::create_directory(run_from_);
    fs::create_directory(folder_.path() + "/elsewhere");
  }
  // A file of rows in the folder that a run begins in.
  void Write(const std::string& name, int rows = 200) const {
    folder_.Write("a[1]/" + name, TwoClasses(rows));
  }
  Finished Begin(Arguments arguments) const {
    arguments.insert(arguments.begin(), "train");
    for (const char* word :
         {"--epochs", "1", "--hidden", "3", "--devices", "cpu:1", "--out", "o"}) {
      arguments.emplace_back(word);
    }
    return RunProgram(arguments, run_from_);
  }
  // From a folder that has none of the files.
  Finished Resume(const Arguments& more = {}, const std::string& command = "train") const {
    Arguments arguments = {command, "--resume", run_from_ + "/o"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments, folder_.path() + "/elsewhere");
  }

  TemporaryFolder folder_;
  const std::string run_from_ = folder_.path() + "/a[1]";  // which is no pattern
};

TEST_F(ResumedElsewhere, FindsAllFilesOfTheRun) {
  Write("d");
  Write("t");
  Write("v");
  ASSERT_EQ(Begin({"d", "--test", "t", "--valid", "v"}).exit_code, 0);
  const Finished resumed = Resume({"--epochs", "2"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("at epoch 1"));
}

TEST_F(ResumedElsewhere, FindsAPatternAndSeveralFiles) {
  for (const char* name : {"part-1", "part-2", "other"}) Write(name);
  ASSERT_EQ(Begin({"part-*", "other"}).exit_code, 0);
  const Finished resumed = Resume({"--epochs", "2"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST_F(ResumedElsewhere, TakesTheDataThatShipsWithTheProgram) {
  ASSERT_EQ(Begin({}).exit_code, 0);
  EXPECT_EQ(Resume({"--epochs", "2"}).exit_code, 0);
}

TEST_F(ResumedElsewhere, TakesFilesThatHaveMovedIfTheyAreNamedAgain) {
  Write("d");
  Write("t");
  ASSERT_EQ(Begin({"d", "--test", "t"}).exit_code, 0);
  fs::rename(run_from_ + "/d", folder_.path() + "/elsewhere/d2");
  fs::rename(run_from_ + "/t", folder_.path() + "/elsewhere/t2");
  EXPECT_THAT(Resume().err, HasSubstr("a[1]/d"));
  EXPECT_EQ(Resume({"d2", "--test", "t2", "--epochs", "2"}).exit_code, 0);
  EXPECT_EQ(Resume({"--epochs", "3"}).exit_code, 0) << "the new places are kept";
}

TEST_F(ResumedElsewhere, RefusesOtherRowsInTheTestFile) {
  Write("d");
  Write("t", 40);
  ASSERT_EQ(Begin({"d", "--test", "t"}).exit_code, 0);
  folder_.Write("elsewhere/t", TwoClasses(41));
  const Finished refused = Resume({"--test", "t"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("40 test rows"));
  EXPECT_THAT(refused.err, HasSubstr("41 test rows"));
}

TEST_F(ResumedElsewhere, RefusesAFileThatTheRunHadNone) {
  Write("d");
  ASSERT_EQ(Begin({"d"}).exit_code, 0);
  const Finished refused = Resume({"--test", run_from_ + "/d"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("has none, and a resumed run keeps it"));
}

TEST_F(ResumedElsewhere, NeedsNoModelThatTheRunBeganWith) {
  Write("d");
  ASSERT_EQ(Begin({"d"}).exit_code, 0);
  fs::rename(run_from_ + "/o/model.safetensors", run_from_ + "/m.safetensors");
  fs::remove_all(run_from_ + "/o");
  ASSERT_EQ(Begin({"d", "--init", "m.safetensors"}).exit_code, 0);
  EXPECT_EQ(Resume({"--init", run_from_ + "/../a[1]/m.safetensors", "--epochs", "2"}).exit_code, 0)
      << "the same file";
  EXPECT_EQ(Resume({"--init", "he"}).exit_code, 2);
  fs::remove(run_from_ + "/m.safetensors");
  for (const char* epochs : {"3", "4"}) {
    const Finished resumed = Resume({"--epochs", epochs});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  }
}

// Older programs kept names as they were given, no test rows and no model of --init.
TEST_F(ResumedElsewhere, GoesOnFromACheckpointOfAnOlderProgram) {
  Write("d");
  Write("t");
  ASSERT_EQ(Begin({"d"}).exit_code, 0);
  fs::rename(run_from_ + "/o/model.safetensors", run_from_ + "/m.safetensors");
  ASSERT_EQ(Begin({"d", "--test", "t", "--init", "m.safetensors"}).exit_code, 0);
  const std::string path = ListCheckpoints(run_from_ + "/o").front();
  Checkpoint old = ReadCheckpoint(path);
  for (const std::string absolute = run_from_ + "/";
       old.texts.options.find(absolute) != std::string::npos;) {
    old.texts.options.erase(old.texts.options.find(absolute), absolute.size());
  }
  old.texts.data.resize(old.texts.data.find(", and "));
  old.texts.network.clear();
  WriteCheckpoint(
      path, {.texts = old.texts, .weights = old.weights, .best = old.best, .workers = old.workers});
  EXPECT_THAT(Resume().err, HasSubstr("m.safetensors: neither one of xavier"));
  const Finished resumed = RunProgram(
      {"train", "--resume", "o", "--test", run_from_ + "/t", "--epochs", "2"}, run_from_);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  fs::remove(run_from_ + "/m.safetensors");
  const Finished again = Resume({"--epochs", "3"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(ResumedElsewhere, AsksForANameThatIsNoUtf8) {
  const std::string name = "n\xff";
  Write(name);
  ASSERT_EQ(Begin({name}).exit_code, 0);
  const Finished refused = Resume();
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the name of this file is not UTF-8"));
  EXPECT_THAT(refused.err, HasSubstr("/o FILE"));
  EXPECT_EQ(Resume({run_from_ + "/" + name, "--epochs", "2"}).exit_code, 0);
  const std::string config = run_from_ + "/o/config.toml";
  const Finished lost = RunProgram({"train", "--config", config}, run_from_);
  EXPECT_EQ(lost.exit_code, 2);
  EXPECT_THAT(lost.err, Not(HasSubstr("config.toml")));
  EXPECT_EQ(RunProgram({"train", name, "--config", config, "--out", "again"}, run_from_).exit_code,
            0);
}

TEST_F(ResumedElsewhere, RepeatsARunWhoseNameHasAControlCharacter) {
  const std::string name = "n\x7f\x01";
  Write(name);
  ASSERT_EQ(Begin({name}).exit_code, 0);
  EXPECT_EQ(Resume({"--epochs", "2"}).exit_code, 0);
  const Finished again =
      RunProgram({"train", "--config", "o/config.toml", "--out", "again"}, run_from_);
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(ResumedElsewhere, GoesOnWithASweep) {
  Write("d");
  Write("t");
  ASSERT_EQ(Begin({"d", "--test", "t", "--ensemble", "2"}).exit_code, 0);
  const Finished resumed = Resume({}, "sweep");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  fs::rename(run_from_ + "/t", folder_.path() + "/elsewhere/t2");
  EXPECT_EQ(Resume({}, "sweep").exit_code, 2);
  const Finished moved = Resume({"--test", "t2"}, "sweep");
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  const Finished refused = Resume({"--test", "t2", "--label", "1"}, "sweep");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--label 1: the sweep in"));
}

TEST_F(ResumedElsewhere, GoesOnWithASweepFromAModel) {
  Write("d");
  ASSERT_EQ(Begin({"d"}).exit_code, 0);
  fs::rename(run_from_ + "/o/model.safetensors", run_from_ + "/m.safetensors");
  fs::remove_all(run_from_ + "/o");
  ASSERT_EQ(Begin({"d", "--init", "m.safetensors", "--ensemble", "2"}).exit_code, 0);
  const Finished resumed = Resume({"--init", run_from_ + "/m.safetensors"}, "sweep");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

}  // namespace
}  // namespace hogbatch
