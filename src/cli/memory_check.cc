#include "cli/memory_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "runtime/device_memory.h"

namespace hogbatch {
namespace {

double Gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

bool IsTogether(const TrainOptions& options, WorkerCounts workers) {
  return AsynchronousWorkers(options.algorithm, workers.all()) < workers.all();
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
  // The weights on their way to a GPU and what it adds on its way back, each also in pinned memory.
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

void CheckTrainingFits(const TrainOptions& options, const TrainPlan& plan, const ModelSpec& spec,
                       const Dataset& data) {
  CheckHost(options, plan, spec);
  const WorkerCounts workers = CountWorkers(plan);
  for (const DeviceChoice& device : plan.devices) {
    const DeviceInfo& info = device.info;
    if (info.kind == DeviceKind::kCpu || info.memory_bytes <= 0) continue;
    const std::int64_t rows = FixedRows(plan.batches, info.kind);
    std::int64_t needed =
        DeviceBytesToTrain(spec, options.optimizer, MomentumToApply(options, workers.all()), rows,
                           MostEntries(data, rows));
    if (IsTogether(options, workers)) needed += BytesToStepTogether(spec);
    if (needed <= info.memory_bytes) continue;
    throw UserError(
        fmt::format("this network needs {:.3g} GB on {} and there are {:.3g} GB; choose smaller "
                    "layers with --hidden or fewer rows with --gpu-batch",
                    Gigabytes(needed), info.name, Gigabytes(info.memory_bytes)));
  }
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
