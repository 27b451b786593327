// The files of a sweep, written in the background.
#include "cli/sweep/sweep_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class SweepRecorderTest : public testing::Test {
 protected:
  SweepRecorderTest() : recorder_(folder_.path(), 2), trials_(2), results_(2) {
    fs::create_directories(folder_.path() + "/trials/1");
  }
  SweepResults Results() const {
    return {.metric = "accuracy", .trials = trials_, .results = results_};
  }
  std::vector<std::string> Unneeded() const { return {folder_.path() + "/trials/1"}; }

  TemporaryFolder folder_;
  SweepRecorder recorder_;
  std::vector<Trial> trials_;
  std::vector<TrialResult> results_;
};

TEST_F(SweepRecorderTest, RemovesNothingBeforeTheRecordIsOnDisk) {
  fs::create_directories(folder_.path() + "/trials.jsonl/in-the-way");
  EXPECT_THROW(recorder_.Write({}, Results(), Unneeded()), Error);
  EXPECT_TRUE(folder_.Has("trials/1"));
  fs::remove_all(folder_.path() + "/trials.jsonl");
  recorder_.Write({}, Results(), {});
  EXPECT_FALSE(folder_.Has("trials/1"));
  EXPECT_TRUE(folder_.Has("sweep.json"));
}

TEST_F(SweepRecorderTest, TellsWhatWentWrongInTheBackground) {
  fs::create_directories(folder_.path() + "/trials.jsonl/in-the-way");
  recorder_.Post({}, Results(), Unneeded(), 0);
  EXPECT_THROW(recorder_.Write({}, Results(), {}), Error);
  EXPECT_THAT(recorder_.TakeError().value_or(""), HasSubstr("trials.jsonl"));
  EXPECT_TRUE(folder_.Has("trials/1"));
}

TEST_F(SweepRecorderTest, IsDueOnlyWhenSomethingHasChanged) {
  EXPECT_FALSE(recorder_.IsDue(1000));
  recorder_.OnTrial(1);
  EXPECT_TRUE(recorder_.IsDue(1000));
  recorder_.Post({}, Results(), {}, 1000);
  EXPECT_FALSE(recorder_.IsDue(1e9));
  recorder_.OnBest();
  recorder_.Post({}, Results(), {}, 2000);  // waits for the one before it
  EXPECT_FALSE(recorder_.IsDue(1e9));
}

// Thousands of trials with long curves are not made into text again for every record.
TEST_F(SweepRecorderTest, MakesTheLinesAnewThatHaveChanged) {
  recorder_.Write({}, Results(), {});
  results_[0].note = "untold";
  results_[1].note = "told";
  recorder_.OnTrial(1);
  recorder_.Post({}, Results(), {}, 0);
  recorder_.Post({}, Results(), {}, 0);  // the one before it is on disk
  EXPECT_THAT(folder_.Read("trials.jsonl"), HasSubstr("\"told\""));
  EXPECT_THAT(folder_.Read("trials.jsonl"), Not(HasSubstr("untold")));
  recorder_.Write({}, Results(), {});  // the last one has everything
  EXPECT_THAT(folder_.Read("trials.jsonl"), HasSubstr("untold"));
}

}  // namespace
}  // namespace hogbatch
