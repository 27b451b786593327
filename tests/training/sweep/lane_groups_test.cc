// How trials are fused: by arithmetic, and in the order of a search.
#include "training/sweep/lane_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include "tests/support/process.h"
#include "training/devices/machine_facts.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::Le;
using testing::SizeIs;

ModelSpec Network(std::vector<std::int64_t> hidden, std::int64_t inputs) {
  return {.inputs = inputs, .hidden = std::move(hidden), .outputs = 2};
}

TEST(LaneGroups, FillHalfOfACache) {
  constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
  EXPECT_EQ(LanesInCache(Network({64, 64}, 54), kMegabyte), 16u);
  EXPECT_EQ(LanesInCache(Network({64, 64}, 54), 2 * kMegabyte), 33u);
  EXPECT_EQ(LanesInCache(Network({128}, 784), kMegabyte), 1u);
  EXPECT_EQ(LanesInCache(Network({512, 512}, 300), kMegabyte), 1u);
}

TEST(LaneGroups, KnowTheShareOfACoreInACache) {
  const TemporaryFolder root;
  EXPECT_EQ(CoreCacheBytes(root.path()), 1 << 20);  // not known
  const std::string core = "sys/devices/system/cpu/cpu0/";
  const auto describe = [&](const char* size, const char* sharing, const char* threads) {
    root.Write(core + "cache/index2/level", "2\n");
    root.Write(core + "cache/index2/size", size);
    root.Write(core + "cache/index2/shared_cpu_list", sharing);
    root.Write(core + "topology/thread_siblings_list", threads);
    return CoreCacheBytes(root.path());
  };
  fs::create_directories(root.path() + "/" + core + "cache/index2");
  fs::create_directories(root.path() + "/" + core + "topology");
  EXPECT_EQ(describe("1024K\n", "0\n", "0\n"), 1 << 20);
  EXPECT_EQ(describe("1280K\n", "0,16\n", "0,16\n"), 1280 << 10);  // two threads of one core
  EXPECT_EQ(describe("4M\n", "0-3\n", "0\n"), 1 << 20);            // four cores
  EXPECT_EQ(describe("much\n", "0\n", "0\n"), 1 << 20);
}

TEST(LaneGroups, AreNeverFewerThanWorkers) {
  EXPECT_EQ(LanesPerGroup(64, 16, 2), 16u);
  EXPECT_EQ(LanesPerGroup(64, 64, 2), 32u);
  EXPECT_EQ(LanesPerGroup(40, 16, 2), 10u);  // 4 lane groups, not 3
  EXPECT_EQ(LanesPerGroup(3, 16, 2), 2u);
  EXPECT_EQ(LanesPerGroup(2, 16, 4), 1u);
  EXPECT_EQ(LanesPerGroup(64, 1, 2), 1u);
}

TEST(LaneGroups, HaveStagesOfOneShapeAndRungAndPlace) {
  LaneGroupMaker maker({0, 0, 1, 0, 0});
  const std::vector<std::size_t> lanes = {2, 2};
  maker.Add({.trial = 0, .rung = 0}, "");
  maker.Add({.trial = 1, .rung = 1}, "");
  maker.Add({.trial = 2, .rung = 0}, "");
  maker.Add({.trial = 3, .rung = 0}, "elsewhere");
  EXPECT_FALSE(maker.TakeFull(lanes));
  maker.Add({.trial = 4, .rung = 0}, "");
  const auto full = maker.TakeFull(lanes);
  ASSERT_TRUE(full);
  EXPECT_EQ((*full)[0].trial, 0u);
  EXPECT_EQ((*full)[1].trial, 4u);
  EXPECT_EQ(maker.TakePart(lanes, 2)->front().trial, 1u);  // the highest rung first
  EXPECT_TRUE(maker.TakePart(lanes, 1));
  EXPECT_TRUE(maker.TakePart(lanes, 1));
  EXPECT_TRUE(maker.empty());
  EXPECT_FALSE(maker.TakePart(lanes, 1));
}

// Successive halving with lane groups, in virtual time: a stage takes as long as its rung, whatever
// else is in its lane group.
struct VirtualSweep {
  std::size_t trials = 81;
  std::size_t lanes = 16;
  std::size_t workers = 2;
  std::vector<double> rungs = {1, 3, 9, 27};

  double idle = 0;
  std::vector<std::vector<Tuner::Stage>> groups = {};
  std::vector<std::size_t> reached = std::vector<std::size_t>(4);

  void Run() {
    Tuner tuner(trials, rungs, 3);
    LaneGroupMaker maker{std::vector<std::size_t>(trials)};
    const std::vector<std::size_t> of_shape = {lanes};
    std::multimap<double, std::vector<Tuner::Stage>> open;
    double now = 0;
    while (true) {
      while (open.size() < workers) {
        auto next = maker.TakeFull(of_shape);
        if (!next) {
          if (const auto stage = tuner.Next()) {
            maker.Add(*stage, "");
            continue;
          }
          next = maker.TakePart(of_shape, workers - open.size());
        }
        if (!next) break;
        const std::size_t rung = next->front().rung;
        open.emplace(now + rungs[rung] - (rung > 0 ? rungs[rung - 1] : 0), *next);
        groups.push_back(*next);
      }
      if (open.empty()) break;
      idle += static_cast<double>(workers - open.size()) * (open.begin()->first - now);
      now = open.begin()->first;
      for (const Tuner::Stage stage : open.begin()->second) {
        ++reached[stage.rung];
        tuner.Finish(stage, static_cast<double>((stage.trial * 37) % trials),
                     Tuner::Promotable::kYes);
      }
      open.erase(open.begin());
    }
    EXPECT_TRUE(tuner.done());
  }
};

TEST(LaneGroups, OfASearchGoOnWithSurvivorsOnly) {
  VirtualSweep sweep;
  sweep.Run();
  EXPECT_EQ(sweep.reached[0], 81u);
  EXPECT_GE(sweep.reached[1], 27u);
  EXPECT_LE(sweep.reached[1], 40u);
  EXPECT_GE(sweep.reached[3], 3u);
  EXPECT_LE(sweep.reached[3], 14u);
  std::set<std::pair<std::size_t, std::size_t>> stages;
  for (const auto& group : sweep.groups) {
    EXPECT_THAT(group, SizeIs(Le(16u)));
    for (const Tuner::Stage stage : group) {
      EXPECT_EQ(stage.rung, group.front().rung);
      EXPECT_TRUE(stages.emplace(stage.trial, stage.rung).second) << "a stage was trained twice";
    }
  }
}

TEST(LaneGroups, OfASearchLeaveNoWorkerIdleThatCouldWork) {
  VirtualSweep sweep{.rungs = {1, 3}};
  sweep.Run();
  EXPECT_LE(sweep.idle, 2 + 1);  // at the end
}

}  // namespace
}  // namespace hogbatch
