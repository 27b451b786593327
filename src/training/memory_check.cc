#include "training/memory_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "core/text.h"
#include "runtime/workers/device_memory.h"

namespace hogbatch {
namespace {

double Gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

bool IsTogether(const TrainOptions& options, WorkerCounts workers) {
  return workers.all() > 1 && FindAlgorithm(options.algorithm).traits.synchronous;
}

// Devices that step together hold slices of gradients of others beside their own.
std::int64_t BytesToStepTogether(const ModelSpec& spec) {
  constexpr std::int64_t kSlices = 3;
  std::int64_t largest = 0;
  for (const LayerShape& layer : Layout(spec).layers) {
    largest = std::max(largest, (layer.in + 1) * layer.out);
  }
  return kSlices * largest * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t SmallestRows(const TrainPlan& plan) {
  return plan.calibrate_gpu_batch ? 1 : plan.batches.gpu_batch.min;
}

// Of a GPU's updates, if memory does not matter.
std::int64_t LargestRows(const TrainOptions& options, const TrainPlan& plan) {
  return FindAlgorithm(options.algorithm).traits.adapts_batch_size
             ? plan.batches.gpu_batch.max
             : FixedBatchSize(plan.batches, DeviceKind::kCuda);
}

// What a GPU may be given at once, for an update or for several that are merged together; 0:
// whatever that is. UserError if it is less than the smallest update of the range.
std::int64_t MostRows(const TrainOptions& options, const TrainPlan& plan,
                      const DeviceTraining& training, const DeviceInfo& info,
                      std::int64_t bytes_on_top) {
  const WorkerCounts workers = CountWorkers(plan);
  const std::int64_t smallest = SmallestRows(plan);
  const std::int64_t merged =
      IsTogether(options, workers) ? 1 : MergeRows(options, training.spec, workers.all());
  const std::int64_t largest = std::max(LargestRows(options, plan), merged);
  const std::int64_t needed = DeviceBytesToTrain(training, smallest) + bytes_on_top;
  if (needed > info.memory_bytes) {
    throw UserError(
        fmt::format("this network needs {:.3g} GB on {} and there are {:.3g} GB; choose smaller "
                    "layers with --hidden or fewer rows with --gpu-batch",
                    Gigabytes(needed), info.name, Gigabytes(info.memory_bytes)));
  }
  // The smallest batch is tried although libraries may find too little left.
  const std::int64_t fit =
      std::max(smallest, MostRowsThatFit(training, info.memory_bytes - bytes_on_top, largest));
  return fit < largest ? fit : 0;
}

void CheckHost(const TrainOptions& options, const TrainPlan& plan, const ModelSpec& spec) {
  const WorkerCounts workers = CountWorkers(plan);
  const std::int64_t there = plan.host_memory_bytes;
  const std::int64_t needed = HostBytesToTrain(options, spec, workers);
  if (there <= 0 || needed <= there) return;
  throw UserError(fmt::format(
      "this network needs {:.3g} GB of memory to train on {} worker{}, and there are "
      "{:.3g} GB; choose smaller layers with --hidden",
      Gigabytes(needed), workers.all(), workers.all() == 1 ? "" : "s", Gigabytes(there)));
}

}  // namespace

std::int64_t HostBytesToTrain(const TrainOptions& options, const ModelSpec& spec,
                              WorkerCounts workers) {
  constexpr std::int64_t kCopies = 4;  // the store, two snapshots, and the weights to start with
  // Of each of two merges under way the weights on their way to a GPU, and Δ or the weights on the
  // way back.
  constexpr std::int64_t kCopiesOfGpu = 4;
  const bool adam = options.optimizer.optimizer == "adam";
  const std::int64_t states = adam ? 2 : (MomentumToApply(options, workers.all()) > 0 ? 1 : 0);
  const ParameterLayout layout = Layout(spec);
  const bool together = IsTogether(options, workers);
  const bool gradients = states > 0 || together;
  // Of a sparse first layer a gradient or replica has only the rows that a batch touches.
  const std::int64_t part = layout.floats - (spec.sparse_input ? layout.layers.front().bias_at : 0);
  std::int64_t floats = kCopies * layout.floats;
  // Workers that step together share out one state.
  floats += states * (together ? 1 : workers.cpu) * layout.floats;
  floats += gradients ? workers.cpu * part : 0;
  floats += workers.gpu * kCopiesOfGpu * part;
  return floats * static_cast<std::int64_t>(sizeof(float));
}

std::vector<std::int64_t> CheckTrainingFits(const TrainOptions& options, const TrainPlan& plan,
                                            const ModelSpec& spec, const Dataset& data) {
  CheckHost(options, plan, spec);
  const WorkerCounts workers = CountWorkers(plan);
  DeviceTraining training{.spec = spec,
                          .optimizer = options.optimizer,
                          .momentum = MomentumToApply(options, workers.all()),
                          .data = &data};
  const std::int64_t together = IsTogether(options, workers) ? BytesToStepTogether(spec) : 0;
  std::vector<std::int64_t> max_batch_size;
  for (const DeviceChoice& device : plan.devices) {
    const DeviceInfo& info = device.info;
    const bool limited = info.kind != DeviceKind::kCpu && info.memory_bytes > 0;
    training.depth = info.depth;
    max_batch_size.push_back(limited ? MostRows(options, plan, training, info, together) : 0);
  }
  return max_batch_size;
}

std::vector<std::string> MemoryNotes(const TrainOptions& options, const TrainPlan& plan) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < plan.max_batch_size.size(); ++i) {
    if (plan.max_batch_size[i] == 0 || plan.max_batch_size[i] >= LargestRows(options, plan))
      continue;
    notes.push_back(
        fmt::format("note      {} has room for {} row{} per update, fewer than --gpu-batch {}",
                    plan.devices[i].info.name, Grouped(plan.max_batch_size[i]),
                    plan.max_batch_size[i] == 1 ? "" : "s", LargestRows(options, plan)));
  }
  return notes;
}

void CheckInferenceFits(const std::vector<DeviceChoice>& devices, const ModelSpec& spec) {
  for (const DeviceChoice& device : devices) {
    const DeviceInfo& info = device.info;
    if (info.kind == DeviceKind::kCpu || info.memory_bytes <= 0) continue;
    const std::int64_t needed = DeviceBytesToInfer(spec);
    if (needed <= info.memory_bytes) continue;
    throw UserError(fmt::format(
        "this network needs {:.3g} GB on {} and there are {:.3g} GB; --devices cpu does without it",
        Gigabytes(needed), info.name, Gigabytes(info.memory_bytes)));
  }
}

}  // namespace hogbatch
