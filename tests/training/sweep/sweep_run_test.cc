// Trials as jobs of a queue: what they leave, and how a sweep that was stopped goes on.
#include "training/sweep/sweep_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/training/sweep/sweep_fixture.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(SweepRunTest, TrainsAllTrialsAndSavesTheBest) {
  SweepRun run(PlanOf({0.001, 0.01, 0.05, 0.0001}, {3}), FolderOf("a"), {}, log_);
  const std::string run_folder = (folder_ / "a").string();
  EXPECT_FALSE(run.complete());
  run.Run({});
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.metric(), "accuracy");
  for (const TrialResult& result : run.results()) {
    EXPECT_EQ(result.state, TrialState::kDone);
    EXPECT_THAT(result.curve, SizeIs(4));
    EXPECT_EQ(result.examples, 3 * input_->training.train_rows);
    EXPECT_THAT(result.rung_losses, SizeIs(1));
  }
  const std::size_t best = Ranking(run.results()).front();
  EXPECT_EQ(run.best().loss, run.results()[best].best()->valid_loss);
  EXPECT_EQ(run.best().trial, best);
  EXPECT_EQ(log_.best.back(), best);
  EXPECT_TRUE(fs::exists(folder_ / "a" / "model.safetensors"));
  // No checkpoint is needed any more when the record says so.
  EXPECT_TRUE(fs::exists(folder_ / "a" / "trials" / "block-1" / "checkpoints"));
  EXPECT_THAT(run.TakeUnneeded(), testing::Contains(run_folder + "/trials"));
  EXPECT_THAT(log_.warnings, SizeIs(0));
}

// The learning rate is that of all epochs, and everything else goes on, too.
TEST_F(SweepRunTest, EndsATrialInRungsWithTheBitsOfATrialAtOnce) {
  SweepRun at_once(PlanOf({0.02}, {8}), FolderOf("at-once"), {}, log_);
  at_once.Run({});
  // With eta 1.0…1 each trial is promoted.
  SweepPlan plan = PlanOf({0.02}, {1, 2, 4, 8});
  plan.eta = 1 + 1e-12;
  SweepRun in_rungs(plan, FolderOf("rungs"), {}, log_);
  in_rungs.Run({});
  const TrialResult& one = at_once.results()[0];
  const TrialResult& many = in_rungs.results()[0];
  EXPECT_THAT(many.rung_losses, SizeIs(4));
  ASSERT_EQ(many.curve.size(), one.curve.size());
  for (std::size_t i = 0; i < one.curve.size(); ++i) {
    EXPECT_EQ(many.curve[i].epoch, one.curve[i].epoch);
    EXPECT_EQ(many.curve[i].valid_loss, one.curve[i].valid_loss) << "epoch " << i;
    EXPECT_EQ(many.curve[i].train_loss, one.curve[i].train_loss) << "epoch " << i;
  }
  const auto model = [&](const char* name) {
    return LoadModel((folder_ / name / "model.safetensors").string()).parameters;
  };
  EXPECT_EQ(model("rungs"), model("at-once"));
}

TEST_F(SweepRunTest, StopsTrialsThatAreNotGoodEnough) {
  SweepRun run(PlanOf({1e-6, 0.02, 2e-6, 3e-6, 0.03, 4e-6, 5e-6, 6e-6}, {1, 2, 4}), FolderOf("a"),
               {}, log_);
  run.Run({});
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(run.results()[1].state, TrialState::kDone);
  int stopped = 0;
  for (const TrialResult& result : run.results()) stopped += result.state == TrialState::kStopped;
  EXPECT_GE(stopped, 4);
}

TEST_F(SweepRunTest, GoesOnWhereItWasStopped) {
  const std::vector<double> rates = {0.001, 0.02, 0.01, 0.005};
  SweepRun unbroken(PlanOf(rates, {6}), FolderOf("unbroken"), {}, log_);
  unbroken.Run({});
  EarlierSweep earlier;
  for (int i = 0; i < 50; ++i) {
    SweepRun part(PlanOf(rates, {6}), FolderOf("broken"), earlier, log_);
    part.Run([&, before = log_.trials] { return log_.trials > before + 2; });
    const SweepResults results{
        .metric = part.metric(), .trials = part.plan().trials, .results = part.results()};
    earlier = {.results = ParseTrialsJsonl(TrialsJsonl(results), results.trials, 1, "trials.jsonl"),
               .best = part.best()};
    if (part.complete()) break;
  }
  ASSERT_THAT(earlier.results, SizeIs(4));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(earlier.results[i].state, TrialState::kDone);
    EXPECT_EQ(earlier.results[i].curve.back().valid_loss,
              unbroken.results()[i].curve.back().valid_loss);
  }
}

TEST_F(SweepRunTest, ReportsATrialThatDiverges) {
  SweepRun run(PlanOf({1e3, 0.01}, {2}), FolderOf("a"), {}, log_);
  run.Run({});
  EXPECT_EQ(run.results()[1].state, TrialState::kDone);
  EXPECT_TRUE(run.complete());
  EXPECT_EQ(Ranking(run.results()).front(), 1);
}

// A lane that diverges stops, and the others are as without it.
TEST_F(SweepRunTest, FusesTrialsOfOneShape) {
  const std::vector<double> rates = {0.02, 0.01, 0.005, 1e30};
  SweepPlan plan = PlanOf(rates, {3});
  plan.devices.chosen.pop_back();
  SweepPlan alone = plan;
  alone.core_cache_bytes = 0;
  SweepRun fused(plan, FolderOf("fused"), {}, log_);
  EXPECT_EQ(fused.LaneGroupsText(), "4 trials in 1 block of 4 lanes on 1 device");
  fused.Run({});
  SweepRun lone(alone, FolderOf("alone"), {}, log_);
  EXPECT_EQ(lone.LaneGroupsText(), "one trial at a time on each of 1 device");
  lone.Run({});
  EXPECT_EQ(fused.results()[3].state, TrialState::kDiverged);
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const TrialResult &together = fused.results()[i], &by_itself = lone.results()[i];
    EXPECT_EQ(together.state, TrialState::kDone);
    EXPECT_EQ(together.note, "epochs");
    EXPECT_EQ(together.examples, by_itself.examples);
    ASSERT_EQ(together.curve.size(), by_itself.curve.size());
    for (std::size_t at = 0; at < together.curve.size(); ++at) {
      EXPECT_EQ(together.curve[at].epoch, by_itself.curve[at].epoch);
      EXPECT_NEAR(together.curve[at].valid_loss, by_itself.curve[at].valid_loss, 1e-3);
      EXPECT_NEAR(together.curve[at].train_loss, by_itself.curve[at].train_loss, 1e-3);
    }
  }
  const SavedModel model = LoadModel((folder_ / "fused" / "model.safetensors").string());
  EXPECT_EQ(model.spec.lanes, 1);
  EXPECT_EQ(fused.best().loss, fused.results()[0].best()->valid_loss);
}

TEST_F(SweepRunTest, ToldApartByTheirPlaceGoOnAfterAnInterrupt) {
  const std::vector<double> rates = {0.001, 0.02, 0.01, 0.005, 0.004};
  SweepPlan plan = PlanOf(rates, {12});
  plan.devices.chosen.pop_back();
  SweepRun unbroken(plan, FolderOf("unbroken"), {}, log_);
  unbroken.Run({});
  EarlierSweep earlier;
  int parts = 0;
  for (; parts < 50; ++parts) {
    SweepRun part(plan, FolderOf("broken"), earlier, log_);
    part.Run([&, before = log_.trials] { return log_.trials > before + 8; });
    earlier = {.results = {part.results().begin(), part.results().end()}, .best = part.best()};
    if (part.complete()) break;
  }
  EXPECT_GT(parts, 1);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_EQ(earlier.results[i].state, TrialState::kDone);
    ASSERT_EQ(earlier.results[i].curve.size(), unbroken.results()[i].curve.size());
    EXPECT_EQ(earlier.results[i].curve.back().valid_loss,
              unbroken.results()[i].curve.back().valid_loss);
  }
  EXPECT_EQ(earlier.best.loss, unbroken.best().loss);
}

// On a machine with another cache, or the other way round.
TEST_F(SweepRunTest, GoesOnWithTrialsAsTheyWere) {
  SweepPlan fused = PlanOf({0.001, 0.02, 0.01, 0.005}, {12});
  fused.devices.chosen.pop_back();
  SweepPlan alone = fused;
  alone.core_cache_bytes = 0;
  for (const auto& [first, then] : {std::pair(fused, alone), std::pair(alone, fused)}) {
    const std::string name = first.core_cache_bytes > 0 ? "fused" : "alone";
    SweepRun begun(first, FolderOf(name), {}, log_);
    begun.Run([&, before = log_.trials] { return log_.trials > before + 5; });
    ASSERT_FALSE(begun.complete());
    SweepRun resumed(
        then, FolderOf(name),
        {.results = {begun.results().begin(), begun.results().end()}, .best = begun.best()}, log_);
    resumed.Run({});
    for (const TrialResult& result : resumed.results()) {
      EXPECT_EQ(result.state, TrialState::kDone) << result.note;
      EXPECT_EQ(result.examples, 12 * input_->training.train_rows);
    }
  }
  EXPECT_THAT(log_.warnings, SizeIs(0));
}

// Survivors of several lane groups go on in one, with their own weights and optimiser state.
TEST_F(SweepRunTest, FusesSurvivorsAnew) {
  std::vector<double> rates;
  for (int i = 0; i < 12; ++i) rates.push_back(0.001 * (1 + i));
  SweepPlan plan = PlanOf(rates, {1, 2, 4, 8});
  SweepPlan at_once = PlanOf(rates, {8});
  SweepRun rungs(plan, FolderOf("rungs"), {}, log_);
  rungs.Run({});
  SweepRun whole(at_once, FolderOf("whole"), {}, log_);
  whole.Run({});
  int done = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const TrialResult &part = rungs.results()[i], &all = whole.results()[i];
    if (part.state == TrialState::kDone) ++done;
    for (std::size_t at = 0; at < part.curve.size(); ++at) {
      EXPECT_NEAR(part.curve[at].valid_loss, all.curve[at].valid_loss, 1e-3)
          << "trial " << i << ", epoch " << at;
    }
  }
  EXPECT_GE(done, 1);
  EXPECT_TRUE(rungs.complete());
  EXPECT_THAT(log_.warnings, SizeIs(0));
}

TEST(SweepRecords, ReadAsTheyWereWritten) {
  std::vector<Trial> trials(2);
  trials[0].values = {{"lr", "0.1"}};
  trials[1].values = {{"lr", "0.2"}};
  std::vector<TrialResult> results(2);
  results[0] = {.state = TrialState::kStopped,
                .rung_losses = {0.5, std::numeric_limits<double>::infinity()},
                .curve = {{.epoch = 1, .valid_loss = 0.5, .valid_metric = 0.9, .test_loss = NAN}},
                .epoch = 1,
                .seconds = 2.5,
                .examples = 77,
                .note = "said \"no\""};
  const SweepResults sweep{.metric = "accuracy", .trials = trials, .results = results};
  const auto read = ParseTrialsJsonl(TrialsJsonl(sweep), trials, 3, "t.jsonl");
  EXPECT_EQ(read[0].state, TrialState::kStopped);
  EXPECT_EQ(read[0].rung_losses, results[0].rung_losses);
  EXPECT_EQ(read[0].curve[0].valid_loss, 0.5);
  EXPECT_TRUE(std::isnan(read[0].curve[0].test_loss));
  EXPECT_EQ(read[0].examples, 77);
  EXPECT_EQ(read[0].note, results[0].note);
  EXPECT_EQ(read[1].state, TrialState::kWaiting);
  EXPECT_THAT(TrialsCsv(sweep), HasSubstr("1,stopped,0.1,0.5,0.9,,"));

  std::swap(trials[0], trials[1]);
  EXPECT_THROW(ParseTrialsJsonl(TrialsJsonl(sweep).substr(5), trials, 3, "t.jsonl"), UserError);
  EXPECT_THROW(ParseTrialsJsonl("{}\n{}\n", trials, 3, "t.jsonl"), UserError);
  EXPECT_THROW(ParseSweep("[]", "sweep.json"), UserError);
  EXPECT_THROW(ParseSweep("{\"format\": 99}", "sweep.json"), UserError);
  const SweepRecord record{
      .options = {{"lr", "0.1|0.2"}}, .rows = "x", .seconds = 3, .best = {.loss = 1, .trial = 4}};
  const SweepRecord same = ParseSweep(SweepText(record), "sweep.json");
  EXPECT_EQ(same.options, record.options);
  EXPECT_EQ(same.seconds, 3);
  EXPECT_EQ(same.best.loss, 1);
  EXPECT_EQ(same.best.trial, 4);
}

TEST(SweepRecords, AreRefusedWithWhatNoSweepWrites) {
  const std::vector<Trial> trials(1);
  const auto line = [](const std::string& members) {
    return R"({"varied":{},"curve":[],)" + members + "}\n";
  };
  const auto read = [&](const std::string& members) {
    return ParseTrialsJsonl(line(members), trials, 2, "t.jsonl");
  };
  const std::string good = R"("epoch":1,"seconds":1,"examples":7,)";
  EXPECT_THAT(read(good + R"("state":"stopped","rung_losses":[0.5])"), SizeIs(1));
  for (const std::string& bad :
       {good + R"("state":"done","rung_losses":[3,2,1])",
        good + R"("state":"stopped","rung_losses":[2,1])",
        good + R"("state":"stopped","rung_losses":[])",
        good + R"("state":"waiting","rung_losses":[1])",
        good + R"("state":"asleep","rung_losses":[])",
        good + R"("state":"done","rung_losses":["1"])",
        std::string(R"("epoch":1,"seconds":1,"examples":1e300,"state":"done","rung_losses":[])"),
        std::string(R"("epoch":1,"seconds":1,"examples":1.5,"state":"done","rung_losses":[])"),
        std::string(R"("epoch":-1,"seconds":1,"examples":1,"state":"done","rung_losses":[])"),
        std::string(R"("epoch":1,"seconds":1e300,"examples":1,"state":"done","rung_losses":[])")}) {
    EXPECT_THAT([&] { read(bad); },
                testing::ThrowsMessage<UserError>(HasSubstr("t.jsonl is damaged")))
        << bad;
  }
  const std::string sweep = R"({"options":{},"search":{},"rows":"x",)";
  EXPECT_EQ(ParseSweep(sweep + R"("format":1,"seconds":1})", "s").best.trial, std::nullopt);
  for (const char* bad :
       {R"("format":1e300,"seconds":1})", R"("format":1.5,"seconds":1})",
        R"("format":1,"seconds":-1})", R"("format":1,"seconds":1,"best_trial":0})",
        R"("format":1,"seconds":1,"best_loss":"x"})"}) {
    EXPECT_THAT([&] { ParseSweep(sweep + bad, "s"); },
                testing::ThrowsMessage<UserError>(HasSubstr("s is damaged")))
        << bad;
  }
}

TEST(SweepRanking, PutsWhatDivergedOrFailedLast) {
  const auto with = [](TrialState state, double loss) {
    return TrialResult{.state = state, .curve = {{.epoch = 1, .valid_loss = loss}}};
  };
  const std::vector<TrialResult> results = {with(TrialState::kDiverged, 0.1),
                                            with(TrialState::kDone, 0.3),
                                            {.curve = {}},
                                            with(TrialState::kFailed, 0.05),
                                            with(TrialState::kStopped, 0.2)};
  EXPECT_THAT(Ranking(results), testing::ElementsAre(4, 1, 3, 0, 2));
}

}  // namespace
}  // namespace hogbatch
