// Lanes of a job train as lone exclusive jobs do, and stop by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/control/jobs/queue_run.h"

namespace hogbatch {
namespace {

using testing::Each;
using testing::SizeIs;

struct LaneCase {
  std::string name;
  std::vector<OptimizerOptions> optimizers;  // of the lanes
  Storage storage = Storage::kDense;
  DeviceKind kind = DeviceKind::kCpu;
  std::vector<float> class_weights = {};
};

class LanesOfAJob : public testing::TestWithParam<LaneCase> {
 protected:
  static RealJob Block(const LaneCase& setup, double epochs) {
    RealJob job{.rows = 1500,
                .epochs = epochs,
                .hidden = {12, 9},
                .exclusive = true,
                .kind = setup.kind,
                .storage = setup.storage};
    // A replica merges as often as the lane that merges most often.
    job.optimizer = setup.optimizers.back();
    for (std::size_t i = 0; i < setup.optimizers.size(); ++i) {
      const bool is_adam = setup.optimizers[i].optimizer == "adam";
      job.lanes.push_back({.lr = (is_adam ? 0.002 : 0.05) / static_cast<double>(1 + i),
                           .optimizer = setup.optimizers[i],
                           .seed = 10 + i,
                           .class_weights = setup.class_weights});
    }
    return job;
  }
  static RealJob Alone(const RealJob& block, std::size_t lane) {
    RealJob job = block;
    job.lanes.clear();
    job.lr = block.lanes[lane].lr;
    job.optimizer = block.lanes[lane].optimizer;
    job.start_seed = block.lanes[lane].seed;
    job.class_weights = block.lanes[lane].class_weights;
    return job;
  }
  static QueueRun RunOf(const RealJob& job, Time time = Time::kVirtual) {
    QueueRun run{.time = time, .jobs = {job}, .cores = 1, .distant = 1};
    run.Run();
    return run;
  }
  static std::vector<float> LaneIn(const RealJob& block, const std::vector<float>& flat,
                                   std::size_t lane) {
    return LaneOf(QueueRun::ModelOfJob(block), flat, static_cast<std::int64_t>(lane));
  }
};

TEST_P(LanesOfAJob, EqualTheirLoneRunsAfterOneUpdate) {
  const double rows = GetParam().kind == DeviceKind::kCpu ? 7 : 11;  // of one update
  const RealJob block = Block(GetParam(), rows / 1500);
  const QueueRun together = RunOf(block);
  for (std::size_t i = 0; i < block.lanes.size(); ++i) {
    SCOPED_TRACE(i);
    const QueueRun alone = RunOf(Alone(block, i));
    ASSERT_EQ(alone.results[0].totals.updates, 1);
    ASSERT_EQ(together.results[0].totals.updates, 1);
    const std::vector<float> lane = LaneIn(block, together.models[0], i);
    ASSERT_EQ(lane.size(), alone.models[0].size());
    for (std::size_t at = 0; at < lane.size(); ++at) {
      EXPECT_NEAR(lane[at], alone.models[0][at], 1e-5) << at;
    }
  }
}

TEST_P(LanesOfAJob, EndNearTheirLoneRuns) {
  const RealJob block = Block(GetParam(), 2);
  for (const Time time : {Time::kVirtual, Time::kReal}) {
    const QueueRun together = RunOf(block, time);
    ASSERT_THAT(together.results[0].lanes, SizeIs(block.lanes.size()));
    for (std::size_t i = 0; i < block.lanes.size(); ++i) {
      SCOPED_TRACE(i);
      const QueueRun alone = RunOf(Alone(block, i), time);
      const LaneResult& lane = together.results[0].lanes[i];
      EXPECT_EQ(lane.stopped_because, StopReason::kEpochs);
      EXPECT_EQ(lane.saved->epoch, alone.results[0].saved->epoch);
      EXPECT_NEAR(lane.saved->valid->mean_loss(), alone.results[0].saved->valid->mean_loss(), 2e-3);
      const std::vector<float> best = LaneIn(block, together.snapshots[0], i);
      for (std::size_t at = 0; at < best.size(); ++at) {
        EXPECT_NEAR(best[at], alone.snapshots[0][at], 5e-3) << at;
      }
    }
  }
}

TEST_P(LanesOfAJob, ThatDivergeChangeNoBitOfOthers) {
  const RealJob good = Block(GetParam(), 2);
  for (const double lr : {1e30, 1e4}) {
    RealJob bad = good;
    bad.lanes[1].lr = lr;
    const QueueRun with_good = RunOf(good), with_bad = RunOf(bad);
    EXPECT_EQ(with_bad.results[0].lanes[1].stopped_because, StopReason::kDiverged);
    EXPECT_LT(with_bad.results[0].lanes[1].epoch, 2);
    for (std::size_t i = 0; i < good.lanes.size(); ++i) {
      if (i == 1) continue;
      SCOPED_TRACE(i);
      EXPECT_EQ(with_bad.results[0].lanes[i].stopped_because, StopReason::kEpochs);
      EXPECT_EQ(LaneIn(good, with_bad.models[0], i), LaneIn(good, with_good.models[0], i));
      EXPECT_EQ(LaneIn(good, with_bad.snapshots[0], i), LaneIn(good, with_good.snapshots[0], i));
    }
    for (const float w : LaneIn(good, with_bad.snapshots[0], 1)) EXPECT_TRUE(std::isfinite(w));
    for (const float w : LaneIn(good, with_bad.models[0], 1)) EXPECT_TRUE(std::isfinite(w));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LanesOfAJob,
    testing::Values(
        LaneCase{"Sgd", std::vector<OptimizerOptions>(4)},
        LaneCase{"Weighted",
                 std::vector<OptimizerOptions>(3),
                 Storage::kDense,
                 DeviceKind::kCpu,
                 {0.5f, 2.0f}},
        LaneCase{"Mixed", {{.momentum = 0.9}, {.weight_decay = 0.01}, {}, {.momentum = 0.5}}},
        LaneCase{"Adam", std::vector<OptimizerOptions>(3, {.optimizer = "adam"})},
        LaneCase{"SparseSgd", std::vector<OptimizerOptions>(3), Storage::kSparse},
        LaneCase{"SparseAdam", std::vector<OptimizerOptions>(3, {.optimizer = "adam"}),
                 Storage::kSparse},
        LaneCase{"GpuSgd", std::vector<OptimizerOptions>(4), Storage::kDense, DeviceKind::kCuda},
        LaneCase{"GpuMixed",
                 {{}, {.weight_decay = 0.01}, {.momentum = 0.5}},
                 Storage::kDense,
                 DeviceKind::kCuda},
        LaneCase{"GpuWeighted",
                 std::vector<OptimizerOptions>(3),
                 Storage::kDense,
                 DeviceKind::kCuda,
                 {0.5f, 2.0f}},
        LaneCase{"GpuSparseSgd", std::vector<OptimizerOptions>(3), Storage::kSparse,
                 DeviceKind::kCuda},
        LaneCase{"GpuSparseAdam", std::vector<OptimizerOptions>(3, {.optimizer = "adam"}),
                 Storage::kSparse, DeviceKind::kCuda}),
    [](const auto& tested) { return tested.param.name; });

RealJob ThreeLanes() {
  return {.rows = 1500, .epochs = 6, .exclusive = true, .lanes = std::vector<RealLane>(3)};
}

TEST(Lanes, StopByRulesOfTheirOwn) {
  RealJob job = ThreeLanes();
  job.lanes[0].target_loss = 0.6;
  job.lanes[2].lr = 0;
  job.lanes[2].patience = 2;
  QueueRun run{.jobs = {job}, .cores = 1};
  run.Run();
  const std::vector<LaneResult>& lanes = run.results[0].lanes;
  EXPECT_EQ(lanes[0].stopped_because, StopReason::kTargetLoss);
  EXPECT_LT(lanes[0].epoch, 6);
  EXPECT_LE(lanes[0].saved->valid->mean_loss(), 0.6);
  EXPECT_EQ(lanes[1].stopped_because, StopReason::kEpochs);
  EXPECT_EQ(lanes[1].epoch, 6);
  EXPECT_EQ(lanes[2].stopped_because, StopReason::kPatience);
  EXPECT_EQ(run.results[0].stopped_because, StopReason::kEpochs);
}

TEST(Lanes, EndTheirJobWhenAllHaveStopped) {
  RealJob job = ThreeLanes();
  for (RealLane& lane : job.lanes) lane.target_loss = 0.6;
  QueueRun run{.jobs = {job}, .cores = 1};
  run.Run();
  EXPECT_EQ(run.results[0].stopped_because, StopReason::kTargetLoss);
  EXPECT_LT(run.results[0].totals.epoch, 6);
  for (RealLane& lane : job.lanes) lane = {.lr = 1e30};
  QueueRun bad{.jobs = {job}, .cores = 1};
  bad.Run();
  EXPECT_EQ(bad.results[0].stopped_because, StopReason::kDiverged);
  EXPECT_LT(bad.results[0].totals.epoch, 1);
}

TEST(Lanes, HaveAReportEachOfEveryEvaluation) {
  QueueRun run{.jobs = {ThreeLanes()}, .cores = 1};
  run.Run();
  std::vector<int> evaluations(3);
  for (const Progress& progress : run.recorder.reports) {
    if (progress.evaluation) ++evaluations[static_cast<std::size_t>(progress.lane)];
  }
  EXPECT_THAT(evaluations, Each(21));
}

// A worker that fails leaves the block to another one of its kind.
TEST(Lanes, GoOnWithAnotherWorker) {
  for (const int distant : {0, 2}) {
    RealJob job = ThreeLanes();
    job.kind = distant > 0 ? DeviceKind::kCuda : DeviceKind::kCpu;
    QueueRun run{
        .jobs = {job, job}, .cores = distant > 0 ? 1 : 2, .distant = distant, .fail_call = 500};
    run.Run();
    for (const RunResult& result : run.results) {
      EXPECT_EQ(result.stopped_because, StopReason::kEpochs);
      EXPECT_EQ(result.totals.examples + result.totals.lost_rows, 6 * 1500);
      for (const LaneResult& lane : result.lanes) {
        EXPECT_LT(lane.saved->valid->mean_loss(), 0.5);
      }
    }
  }
}

}  // namespace
}  // namespace hogbatch
