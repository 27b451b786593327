#include "runtime/workers/device_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "runtime/batches/forward_pass.h"
#include "runtime/workers/worker.h"
#include "tests/support/strict_device.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kBatch = 100;

// The most memory that a worker on its own device had at once: with updates of kBatch rows and of
// half as many again, with several updates in a merge if the optimiser allows it, with as many
// merges in flight as the device's depth, and with an evaluation of all rows.
std::int64_t Taken(const TrainingData& training, const ModelSpec& spec,
                   const OptimizerOptions& optimizer, int depth) {
  const auto use = std::make_shared<DeviceUse>();
  JobMemory memory(spec, training.data, nullptr, 1);
  memory.optimizer = optimizer;
  memory.explicit_momentum = optimizer.momentum;
  memory.class_weights.assign(spec.outputs, 1.0f);
  const auto worker = MakeWorker(
      0,
      MakeStrictDevice(cpu::MakeDevice({.name = "cpu.0", .description = "test", .depth = depth}),
                       DeviceKind::kCuda, use),
      memory);
  constexpr RowRange kLargest = {kBatch, 2 * kBatch + kBatch / 2};
  std::vector<Task> updates = {Task{.rows = {0, kBatch}, .learning_rate = 0.01f},
                               Task{.rows = kLargest, .learning_rate = 0.01f},
                               Task{.rows = kLargest, .learning_rate = 0.01f},
                               Task{.rows = kLargest, .learning_rate = 0.01f}};
  if (IsDirect(optimizer, optimizer.momentum, spec.sparse_input ? spec.inputs : 0)) {
    updates.push_back({.rows = kLargest, .updates_per_merge = 3, .learning_rate = 0.01f});
  }
  const auto ahead = static_cast<std::size_t>(depth - 1);
  for (std::size_t i = 0; i < updates.size() + ahead; ++i) {
    if (i < updates.size()) worker->Compute(updates[i], 0);
    if (i >= ahead) worker->Commit(updates[i - ahead], 0);
  }
  for (const Task& task : {Task{.kind = TaskKind::kSnapshot, .rows = {}},
                           Task{.kind = TaskKind::kEvaluate, .rows = {0, training.data.rows}}}) {
    worker->Compute(task, 0);
    worker->Commit(task, 0);
  }
  return use->peak_bytes;
}

std::vector<OptimizerOptions> Optimizers() {
  std::vector<OptimizerOptions> optimizers(4);
  optimizers[1].momentum = 0.5;
  optimizers[2].optimizer = "adam";
  optimizers[3].weight_decay = 0.01;
  return optimizers;
}

DeviceTraining Of(const TrainingData& training, const ModelSpec& spec,
                  const OptimizerOptions& optimizer, int depth) {
  return {.spec = spec,
          .optimizer = optimizer,
          .momentum = optimizer.momentum,
          .depth = depth,
          .data = &training.data};
}

TEST(DeviceMemory, OfDenseTrainingIsKnownToTheByte) {
  const TrainingData training = MakeSynthetic({.rows = 6000, .features = 33, .classes = 7});
  for (const Activation activation : {Activation::kRelu, Activation::kGelu}) {
    const ModelSpec spec{
        .inputs = 33, .hidden = {40, 90, 20}, .outputs = 7, .activation = activation};
    for (const OptimizerOptions& optimizer : Optimizers()) {
      for (const int depth : {1, 2}) {
        EXPECT_EQ(DeviceBytesToTrain(Of(training, spec, optimizer, depth), kBatch),
                  Taken(training, spec, optimizer, depth));
      }
    }
  }
}

class SparseMemory : public testing::TestWithParam<int> {};  // depth

TEST_P(SparseMemory, IsBoundedByNonzeros) {
  const TrainingData training = MakeSynthetic({.rows = 6000, .features = 5000, .nonzeros = 6});
  const ModelSpec spec{.inputs = 5000, .hidden = {64}, .outputs = 2, .sparse_input = true};
  EXPECT_EQ(MostEntries(training.data, kBatch), 6 * kBatch);
  for (const OptimizerOptions& optimizer : Optimizers()) {
    const std::int64_t taken = Taken(training, spec, optimizer, GetParam());
    DeviceTraining on_device = Of(training, spec, optimizer, GetParam());
    const std::int64_t bound = DeviceBytesToTrain(on_device, kBatch);
    EXPECT_LE(taken, bound);
    EXPECT_LE(bound, taken * 3 / 2);
    on_device.data = nullptr;
    EXPECT_LE(bound, DeviceBytesToTrain(on_device, kBatch));
  }
}

INSTANTIATE_TEST_SUITE_P(Depths, SparseMemory, testing::Values(1, 2));

TEST(DeviceMemory, CountsTheFullestRowsInARow) {
  Dataset data{.source = "made up", .rows = 5, .features = 9, .is_sparse = true};
  data.offsets = {0, 1, 5, 6, 9, 9};
  EXPECT_EQ(MostEntries(data, 1), 4);
  EXPECT_EQ(MostEntries(data, 3), 8);
  EXPECT_EQ(MostEntries(data, 100), 9);
}

constexpr std::int64_t kMegabyte = 1'000'000;

ModelSpec Wide() { return {.inputs = 1000, .hidden = {2000, 2000}, .outputs = 10}; }

TEST(MostRowsThatFit, AreAllWhereThereIsRoomAndNoneWhereTheNetworkAloneHasNone) {
  EXPECT_EQ(MostRowsThatFit({.spec = Wide()}, 4000 * kMegabyte, 8192), 8192);
  EXPECT_EQ(MostRowsThatFit({.spec = Wide()}, 100 * kMegabyte, 8192), 0);
}

TEST(MostRowsThatFit, AreAsManyAsTheMemoryHolds) {
  for (const std::int64_t memory : {400 * kMegabyte, 500 * kMegabyte, 700 * kMegabyte}) {
    const std::int64_t rows = MostRowsThatFit({.spec = Wide()}, memory, 1 << 20);
    ASSERT_GT(rows, 0);
    EXPECT_LE(DeviceBytesToTrain({.spec = Wide()}, rows), memory);
    // The rest of the memory is for libraries: their copies of a product's matrices are no larger
    // than what they are copies of.
    EXPECT_GT(2 * DeviceBytesToTrain({.spec = Wide()}, rows + 1), memory);
    EXPECT_LT(rows, MostRowsThatFit({.spec = Wide()}, memory + 50 * kMegabyte, 1 << 20));
    EXPECT_EQ(MostRowsThatFit({.spec = Wide()}, memory, rows + 1), rows);
    EXPECT_EQ(MostRowsThatFit({.spec = Wide()}, memory, rows), rows);
  }
}

TEST(MostRowsThatFit, AreFewerForAnOptimizerWithStateAndForUpdatesThatOverlap) {
  DeviceTraining training{.spec = Wide()};
  const auto rows = [&] { return MostRowsThatFit(training, 500 * kMegabyte, 1 << 20); };
  const std::int64_t plain = rows();
  training.optimizer.optimizer = "adam";
  EXPECT_LT(rows(), plain);
  training.optimizer.optimizer = "sgd";
  training.depth = 2;
  EXPECT_LT(rows(), plain);
}

TEST(MostRowsThatFit, KnowThatNoUpdateHasMoreRowsThanTheData) {
  const TrainingData few = MakeSynthetic({.rows = 300, .features = 1000, .classes = 10});
  EXPECT_EQ(MostRowsThatFit({.spec = Wide(), .data = &few.data}, 500 * kMegabyte, 1 << 20),
            1 << 20);
}

TEST(DeviceMemory, OfABlockOfRowsStaysWithinBoundsForWideNetworks) {
  DeviceInfo distant;
  distant.shares_host_memory = false;
  const ModelSpec narrow{.inputs = 100, .hidden = {512}, .outputs = 10};
  const ModelSpec wide{.inputs = 100, .hidden = {512}, .outputs = 1 << 20};
  EXPECT_EQ(ForwardPass::MostRows(narrow, distant), 4096);
  EXPECT_EQ(ForwardPass::MostRows(wide, distant), 64);
}

}  // namespace
}  // namespace hogbatch
