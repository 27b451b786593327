#include "runtime/device_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "runtime/forward_pass.h"
#include "runtime/worker.h"
#include "tests/runtime/strict_device.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kBatch = 100;

// What a worker on its own device had at once, after updates of kBatch rows and of the most that
// the end of a stretch of rows makes of them, and an evaluation of all rows.
std::int64_t Taken(const TrainingData& training, const ModelSpec& spec,
                   const OptimizerOptions& optimizer) {
  const auto use = std::make_shared<DeviceUse>();
  JobMemory memory(spec, training.data, nullptr, 1);
  memory.optimizer = optimizer;
  memory.explicit_momentum = optimizer.momentum;
  memory.class_weights.assign(static_cast<std::size_t>(spec.outputs), 1.0f);
  const auto worker =
      MakeWorker(0,
                 MakeStrictDevice(cpu::MakeDevice({.name = "cpu.0", .description = "test"}),
                                  DeviceKind::kCuda, use),
                 memory);
  for (const Task& task : {Task{.rows = {0, kBatch}, .rate = 0.01f},
                           Task{.rows = {kBatch, 2 * kBatch + kBatch / 2}, .rate = 0.01f},
                           Task{.kind = TaskKind::kSnapshot, .rows = {}},
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

TEST(DeviceMemory, OfDenseTrainingIsKnownToTheByte) {
  const TrainingData training = MakeSynthetic({.rows = 6000, .features = 33, .classes = 7});
  for (const Activation activation : {Activation::kRelu, Activation::kGelu}) {
    const ModelSpec spec{
        .inputs = 33, .hidden = {40, 90, 20}, .outputs = 7, .activation = activation};
    for (const OptimizerOptions& optimizer : Optimizers()) {
      EXPECT_EQ(DeviceBytesToTrain(spec, optimizer, optimizer.momentum, kBatch),
                Taken(training, spec, optimizer));
    }
  }
}

TEST(DeviceMemory, OfSparseTrainingIsBoundedByItsNonzeros) {
  const TrainingData training = MakeSynthetic({.rows = 6000, .features = 5000, .nonzeros = 6});
  const ModelSpec spec{.inputs = 5000, .hidden = {64}, .outputs = 2, .sparse_input = true};
  const std::int64_t entries = MostEntries(training.data, kBatch);
  EXPECT_EQ(entries, 6 * kBatch);
  for (const OptimizerOptions& optimizer : Optimizers()) {
    const std::int64_t taken = Taken(training, spec, optimizer);
    const std::int64_t bound =
        DeviceBytesToTrain(spec, optimizer, optimizer.momentum, kBatch, entries);
    EXPECT_LE(taken, bound);
    EXPECT_LE(bound, taken * 3 / 2);
    EXPECT_LE(bound, DeviceBytesToTrain(spec, optimizer, optimizer.momentum, kBatch));
  }
}

TEST(DeviceMemory, CountsTheFullestRowsInARow) {
  Dataset data{.source = "made up", .rows = 5, .features = 9, .is_sparse = true};
  data.offsets = {0, 1, 5, 6, 9, 9};
  EXPECT_EQ(MostEntries(data, 1), 4);
  EXPECT_EQ(MostEntries(data, 3), 8);
  EXPECT_EQ(MostEntries(data, 100), 9);
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
