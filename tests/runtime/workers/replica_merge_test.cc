// How a replica's update comes into the model, and what is measured of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/runtime/workers/replica_harness.h"

namespace hogbatch {
namespace {

// One update while somebody else adds 1 to every weight: the model before, after, and what the
// update alone would have made of it.
struct Meeting {
  Meeting(Merge merge, int teams, std::int64_t nonzeros) : harness(nonzeros, 2) {
    const Task task{.id = 1, .rows = {0, 32}, .learning_rate = 0.1f};
    ReplicaHarness other(nonzeros, 2);
    before = other.Model();
    other.Do(task);
    alone = other.Model();
    harness.memory.merge = merge;
    harness.memory.teams = teams;
    harness.worker().Compute(task, 0);
    for (float& w : harness.memory.store.idle_weights()) w += 1;
    harness.worker().Commit(task, 0);
    after = harness.Model();
  }
  ReplicaHarness harness;
  std::vector<float> before, alone, after;
};

// Of a sparse first layer, rows that the batch did not touch are not part of the replica.
bool IsTouched(const Meeting& meeting, std::size_t i) {
  return meeting.alone[i] != meeting.before[i];
}

TEST(Merge, DeltaKeepsWhatOthersAdded) {
  for (const std::int64_t nonzeros : kNonzeros) {
    const Meeting meeting(Merge::kDelta, 2, nonzeros);
    for (std::size_t i = 0; i < meeting.after.size(); ++i) {
      ASSERT_NEAR(meeting.after[i], meeting.alone[i] + 1, 1e-6) << i;
    }
  }
}

TEST(Merge, OverwriteLosesWhatOthersAdded) {
  for (const std::int64_t nonzeros : kNonzeros) {
    const Meeting meeting(Merge::kOverwrite, 2, nonzeros);
    int touched = 0;
    for (std::size_t i = 0; i < meeting.after.size(); ++i) {
      if (!IsTouched(meeting, i)) continue;
      ++touched;
      ASSERT_NEAR(meeting.after[i], meeting.alone[i], 1e-6) << i;
    }
    EXPECT_GT(touched, 50);
  }
}

TEST(Merge, AverageDrawsTheModelTowardsTheReplica) {
  for (const std::int64_t nonzeros : kNonzeros) {
    for (const int teams : {1, 2, 4}) {
      const Meeting meeting(Merge::kAverage, teams, nonzeros);
      for (std::size_t i = 0; i < meeting.after.size(); ++i) {
        if (!IsTouched(meeting, i)) continue;
        const float model = meeting.before[i] + 1;
        ASSERT_NEAR(meeting.after[i],
                    model + (meeting.alone[i] - model) / static_cast<float>(teams), 1e-6);
      }
    }
  }
}

std::optional<double> BetaNow(ReplicaHarness& harness) {
  return harness.Do({.kind = TaskKind::kSnapshot, .rows = {}, .snapshot = 0}).beta;
}

TEST(Beta, IsOneForAWorkerAlone) {
  for (const std::int64_t nonzeros : kNonzeros) {
    for (const Merge merge : {Merge::kDelta, Merge::kAverage, Merge::kOverwrite}) {
      ReplicaHarness harness(nonzeros, 2);
      harness.memory.merge = merge;
      EXPECT_FALSE(BetaNow(harness)) << "nothing was added yet";
      for (int i = 0; i < 10; ++i) {
        harness.Do({.id = i + 1, .rows = {i * 16, i * 16 + 16}, .learning_rate = 0.1f});
      }
      ASSERT_TRUE(BetaNow(harness));
      EXPECT_NEAR(*BetaNow(harness), 1, 1e-4);
    }
  }
}

// Another worker adds to the probes in the middle of every update and says so.
double BetaWithAnother(Merge merge) {
  ReplicaHarness harness(0, 2);
  harness.memory.merge = merge;
  harness.memory.teams = 2;
  const LayerShape& last = harness.memory.store.layout().layers.back();
  std::array<float, Probes::kMax> added;
  added.fill(0.01f);
  for (int i = 0; i < 10; ++i) {
    const Task task{.id = i + 1, .rows = {i * 16, i * 16 + 16}, .learning_rate = 0.1f};
    harness.worker().Compute(task, 0);
    for (std::size_t p = 0; p < added.size(); ++p) {
      const std::int64_t at = harness.memory.probes.InLayer(p, last.bias_at - last.weights_at);
      harness.memory.store.Add(last.weights_at + at, std::span(added).subspan(p, 1));
    }
    harness.memory.probes.Expect(1, added);
    harness.worker().Commit(task, 0);
  }
  return *BetaNow(harness);
}

TEST(Beta, SaysWhatEachMergeLosesOfConcurrentUpdates) {
  EXPECT_NEAR(BetaWithAnother(Merge::kDelta), 1, 1e-4);
  // Half of the other's steps and half of its own are taken back.
  EXPECT_LT(BetaWithAnother(Merge::kAverage), 0.7);
  EXPECT_LT(BetaWithAnother(Merge::kOverwrite), 0.5);
}

TEST(Beta, ProbesLieApartInTheLastLayer) {
  for (const std::int64_t outputs : {1, 2, 7, 100}) {
    const ModelSpec spec{.inputs = 9, .hidden = {32}, .outputs = outputs};
    const Probes probes(spec, 1);
    std::vector<std::int64_t> seen;
    for (std::size_t i = 0; i < probes.positions().size(); ++i) {
      ASSERT_LT(probes.positions()[i].row, 32);
      ASSERT_LT(probes.positions()[i].col, outputs);
      seen.push_back(probes.InLayer(i, 0));
    }
    EXPECT_EQ(seen.size(), outputs == 1 ? 32u : 64u);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  }
}

TEST(Merge, HasNamesThatParse) {
  EXPECT_EQ(MergeWords().words, (std::vector<std::string>{"delta", "average", "overwrite"}));
  for (const std::string& name : MergeWords().words) EXPECT_EQ(Name(ParseMerge(name)), name);
  EXPECT_THROW(ParseMerge("sum"), UserError);
}

}  // namespace
}  // namespace hogbatch
