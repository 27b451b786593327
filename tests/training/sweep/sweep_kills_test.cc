// A sweep that was killed, or could not write, loses no work: what it left is what it goes on from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "tests/training/sweep/sweep_fixture.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SweepKillsTest : public SweepRunTest {
 protected:
  // What a record of before the last stages ended says.
  static EarlierSweep RecordedBeforeTheEnd(const SweepRun& run) {
    EarlierSweep earlier{.results = {run.results().begin(), run.results().end()}};
    for (TrialResult& result : earlier.results) {
      result.state = TrialState::kRunning;
      result.rung_losses.clear();
    }
    return earlier;
  }

  // Runs `plan` until some trials have changed.
  EarlierSweep Part(const SweepPlan& plan, const std::string& name, int changes) {
    SweepRun run(plan, FolderOf(name), {}, log_);
    run.Run([&, before = log_.trials] { return log_.trials > before + changes; });
    EXPECT_FALSE(run.complete());
    return {.results = {run.results().begin(), run.results().end()}, .best = run.best()};
  }

  // The newest first, of all trials.
  std::vector<std::string> Checkpoints(const std::string& name) {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_ / name / "trials")) {
      for (const std::string& path : ListCheckpoints(entry.path())) all.push_back(path);
    }
    return all;
  }

  static void Change(const std::string& path, std::string CheckpointTexts::* text,
                     const std::string& to) {
    Checkpoint checkpoint = ReadCheckpoint(path);
    checkpoint.texts.*text = to;
    WriteCheckpoint(path, {.texts = checkpoint.texts,
                           .weights = checkpoint.weights,
                           .best = checkpoint.best,
                           .workers = checkpoint.workers});
  }
};

TEST_F(SweepKillsTest, TrainsNothingTwiceThatHasItsLastCheckpoint) {
  const SweepPlan plan = PlanOf({0.01, 0.02, 0.03, 0.04}, {3});
  SweepRun first(plan, FolderOf("a"), {}, log_);
  first.Run({});
  log_.trials = 0;
  SweepRun again(plan, FolderOf("a"), RecordedBeforeTheEnd(first), log_);
  again.Run({});
  EXPECT_EQ(log_.trials, 4) << "each ends, and is not evaluated again";
  EXPECT_EQ(again.best().loss, first.best().loss);
  for (const TrialResult& result : again.results()) {
    EXPECT_EQ(result.state, TrialState::kDone);
    EXPECT_EQ(result.examples, 3 * input_->training.train_rows);
    EXPECT_THAT(result.curve, SizeIs(4));
  }
}

TEST_F(SweepKillsTest, TrainsNoTrialPastItsRung) {
  for (const std::int64_t cache : {std::int64_t{1} << 20, std::int64_t{0}}) {
    SweepPlan plan = PlanOf({0.01, 0.02, 0.03}, {2, 20});
    plan.eta = 100;  // none is promoted
    plan.core_cache_bytes = cache;
    const std::string name = cache > 0 ? "fused" : "alone";
    SweepRun first(plan, FolderOf(name), {}, log_);
    first.Run({});
    SweepRun again(plan, FolderOf(name), RecordedBeforeTheEnd(first), log_);
    again.Run({});
    for (std::size_t i = 0; i < again.results().size(); ++i) {
      const TrialResult& result = again.results()[i];
      EXPECT_EQ(result.state, TrialState::kStopped);
      EXPECT_EQ(result.epoch, 2) << name;
      EXPECT_EQ(result.rung_losses, first.results()[i].rung_losses);
    }
  }
}

// A record may be written whenever the observer is told of something.
TEST_F(SweepKillsTest, NeverSaysThatATrialHasStoppedWithoutItsLoss) {
  const SweepRun* shown = nullptr;
  log_.on_change = [&] {
    for (const TrialResult& result : shown->results()) {
      EXPECT_TRUE(result.state != TrialState::kStopped || !result.rung_losses.empty());
      EXPECT_TRUE(result.state != TrialState::kDone || result.rung_losses.size() == 3);
    }
  };
  SweepPlan plan = PlanOf({0.001, 0.02, 0.002, 0.03, 0.004, 0.01}, {1, 2, 4});
  SweepRun run(plan, FolderOf("a"), {}, log_);
  shown = &run;
  run.Run({});
  EXPECT_TRUE(run.complete());
}

TEST_F(SweepKillsTest, KeepsTheTrialsWhoseModelCannotBeSaved) {
  const SweepPlan plan = PlanOf({0.01, 0.02}, {2});
  SweepFolder folder = FolderOf("a");
  folder.save_seconds = 0;
  fs::create_directories(folder_ / "a" / "model.safetensors" / "in-the-way");
  SweepRun first(plan, folder, {}, log_);
  first.Run({});
  EXPECT_TRUE(first.lacks_model());
  EXPECT_FALSE(first.complete());
  EXPECT_THAT(first.TakeUnneeded(), IsEmpty());
  EXPECT_THAT(log_.warnings, Contains(HasSubstr("is the best so far: ")));
  EXPECT_THAT(log_.warnings, Contains(HasSubstr("the model was saved in ")));

  fs::remove_all(folder_ / "a" / "model.safetensors");
  SweepRun again(
      plan, folder,
      {.results = {first.results().begin(), first.results().end()}, .best = first.best()}, log_);
  again.Run({});
  EXPECT_TRUE(again.complete());
  EXPECT_FALSE(again.lacks_model());
  EXPECT_EQ(again.best().loss, again.results()[*again.best().trial].best()->valid_loss);
  EXPECT_TRUE(fs::is_regular_file(folder_ / "a" / "model.safetensors"));
}

TEST_F(SweepKillsTest, EndsTheTrialsWhoseModelIsSavedAtTheSecondTry) {
  const SweepPlan plan = PlanOf({0.01, 0.02, 0.03}, {2});
  const fs::path model = folder_ / "a" / "model.safetensors";
  const SweepFolder folder = FolderOf("a");
  fs::create_directories(model / "in-the-way");
  SweepRun run(plan, folder, {}, log_);
  log_.on_change = [&] {
    const auto has_ended = [](const TrialResult& result) { return !result.note.empty(); };
    const bool have_all = std::ranges::all_of(run.results(), has_ended);
    if (have_all && fs::is_directory(model)) fs::remove_all(model);
  };
  run.Run({});
  EXPECT_THAT(log_.warnings, Contains(HasSubstr("is the best so far: ")));
  EXPECT_TRUE(run.complete());
  EXPECT_FALSE(run.lacks_model());
  for (const TrialResult& result : run.results()) {
    EXPECT_EQ(result.state, TrialState::kDone) << result.note;
    EXPECT_THAT(result.rung_losses, SizeIs(1));
  }
  EXPECT_EQ(run.best().loss, run.results()[*run.best().trial].best()->valid_loss);
  EXPECT_TRUE(fs::is_regular_file(model));
}

TEST_F(SweepKillsTest, KeepsTheMembersThatCannotBeSaved) {
  const SweepPlan plan = PlanOf({0.01, 0.02}, {1});
  SweepFolder folder = FolderOf("a");
  folder.keeps_members = true;
  fs::create_directories(folder_ / "a" / "members" / "1.safetensors" / "in-the-way");
  SweepRun first(plan, folder, {}, log_);
  first.Run({});
  EXPECT_TRUE(first.lacks_model());
  EXPECT_EQ(first.results()[0].state, TrialState::kInterrupted);
  EXPECT_EQ(first.results()[1].state, TrialState::kDone);
  EXPECT_THAT(log_.warnings, Contains(HasSubstr("member 1 cannot be saved")));
}

TEST_F(SweepKillsTest, BeginsATrialAgainWhoseCheckpointsAreDamaged) {
  SweepPlan plan = PlanOf({0.001, 0.02, 0.01}, {10});
  plan.core_cache_bytes = 0;
  const EarlierSweep earlier = Part(plan, "a", 4);
  ASSERT_THAT(Checkpoints("a"), Not(IsEmpty()));
  const std::string damaged = fs::path(Checkpoints("a").front()).parent_path();
  for (const std::string& path : ListCheckpoints(fs::path(damaged).parent_path())) {
    Change(path, &CheckpointTexts::control, "{}");
  }
  SweepRun resumed(plan, FolderOf("a"), earlier, log_);
  resumed.Run({});
  EXPECT_THAT(log_.warnings, Contains(HasSubstr("begins again")));
  for (const TrialResult& result : resumed.results()) {
    EXPECT_EQ(result.state, TrialState::kDone) << result.note;
    EXPECT_EQ(result.examples, 10 * input_->training.train_rows);
  }
}

TEST_F(SweepKillsTest, FailsOnlyTheTrialWhoseFolderCannotBeRead) {
  SweepPlan plan = PlanOf({0.001, 0.02, 0.01}, {10});
  plan.core_cache_bytes = 0;
  const EarlierSweep earlier = Part(plan, "a", 4);
  ASSERT_THAT(Checkpoints("a"), Not(IsEmpty()));
  const fs::path place = fs::path(Checkpoints("a").front()).parent_path();
  fs::remove_all(place);
  std::ofstream(place) << "a file in its place";
  SweepRun resumed(plan, FolderOf("a"), earlier, log_);
  resumed.Run({});
  EXPECT_THAT(log_.warnings, Contains(HasSubstr("checkpoints cannot be read")));
  EXPECT_EQ(std::ranges::count(resumed.results(), TrialState::kDone, &TrialResult::state), 2);
}

TEST_F(SweepKillsTest, BeginsABlockAgainThatDoesNotSayOfWhichTrialsItIs) {
  SweepPlan plan = PlanOf({0.001, 0.02, 0.01, 0.03}, {10});
  plan.devices.chosen.pop_back();
  const EarlierSweep earlier = Part(plan, "a", 6);
  for (const std::string& path : Checkpoints("a")) {
    Change(path, &CheckpointTexts::options, R"({"trials":[1e300,"2"]})");
  }
  SweepRun resumed(plan, FolderOf("a"), earlier, log_);
  resumed.Run({});
  EXPECT_THAT(log_.warnings, Contains(HasSubstr("is damaged: it does not say of which trials")));
  EXPECT_THAT(log_.warnings, Each(Not(HasSubstr("json.exception"))));
  EXPECT_TRUE(resumed.complete());
}

}  // namespace
}  // namespace hogbatch
