#include "training/memory_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "nn/optimizer.h"
#include "runtime/workers/device_memory.h"

namespace hogbatch {
namespace {

double Gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

// In synchronous training a device also holds slices of the gradients of others.
std::int64_t BytesForRound(const ModelSpec& spec) {
  constexpr std::int64_t kSlices = 3;
  std::int64_t largest = 0;
  for (const LayerShape& layer : Layout(spec).layers) {
    largest = std::max(largest, (layer.in + 1) * layer.out);
  }
  return kSlices * largest * static_cast<std::int64_t>(sizeof(float));
}

bool IsLimited(const DeviceInfo& info) {
  return info.kind != DeviceKind::kCpu && info.memory_bytes > 0;
}

DeviceTraining TrainingOn(const DeviceInfo& info, const Workload& work, const Dataset& data) {
  return {.spec = work.model,
          .optimizer = work.optimizer,
          .momentum = work.explicit_momentum,
          .depth = info.depth,
          .data = &data};
}

// That a GPU is asked to merge.
std::int64_t MostRows(const Workload& work) {
  return std::max(work.gpu_batch.max, work.synchronous ? 1 : work.merge_rows);
}

// The most rows of a merge that a GPU has room for; 0: any number. UserError if not even the
// smallest batch fits.
std::int64_t LargestThatFits(const Workload& work, const DeviceTraining& training,
                             const DeviceInfo& info, std::int64_t bytes_on_top) {
  const std::int64_t smallest = work.gpu_batch.min;
  const std::int64_t largest = MostRows(work);
  const std::int64_t needed = DeviceBytesToTrain(training, smallest) + bytes_on_top;
  if (needed > info.memory_bytes) {
    throw UserError(
        fmt::format("this network needs {:.3g} GB on {} and there are {:.3g} GB; choose smaller "
                    "layers with --hidden or fewer rows with --gpu-batch",
                    Gigabytes(needed), info.name, Gigabytes(info.memory_bytes)));
  }
  // The smallest batch is tried even if libraries may have too little memory left.
  const std::int64_t fit =
      std::max(smallest, MostRowsThatFit(training, info.memory_bytes - bytes_on_top, largest));
  return fit < largest ? fit : 0;
}

void CheckHost(const Workload& work) {
  const int workers = CountWorkers(work.devices).all();
  const std::int64_t there = work.host_memory_bytes;
  const std::int64_t needed = HostBytesToTrain(work);
  if (there <= 0 || needed <= there) return;
  throw UserError(
      fmt::format("this network needs {:.3g} GB of memory to train on {}, and there are "
                  "{:.3g} GB; choose smaller layers with --hidden",
                  Gigabytes(needed), Plural(workers, "worker", "workers"), Gigabytes(there)));
}

}  // namespace

std::int64_t HostBytesToTrain(const Workload& work) {
  constexpr std::int64_t kCopies = 4;  // the store, two snapshots, and the weights to start with
  // For each of two merges in flight: the outbound weights, and the inbound Δ or weights.
  constexpr std::int64_t kCopiesOfGpu = 4;
  const WorkerCounts workers = CountWorkers(work.devices);
  const ParameterLayout layout = Layout(work.model);
  const std::int64_t state = OptimizerBytes(work.optimizer, work.explicit_momentum, layout, 0);
  const bool gradients = state > 0 || work.synchronous;
  // A gradient or replica has only those rows of a sparse first layer that a batch touches.
  const std::int64_t part =
      layout.floats - (work.model.sparse_input ? layout.layers.front().bias_at : 0);
  std::int64_t floats = kCopies * layout.floats;
  floats += gradients ? workers.cpu * part : 0;
  floats += workers.gpu * kCopiesOfGpu * part;
  // In synchronous training the workers share one state.
  return floats * static_cast<std::int64_t>(sizeof(float)) +
         state * (work.synchronous ? 1 : workers.cpu);
}

std::vector<std::int64_t> CheckTrainingFits(const Workload& work, const Dataset& data) {
  CheckHost(work);
  const std::int64_t on_top = work.synchronous ? BytesForRound(work.model) : 0;
  std::vector<std::int64_t> largest;
  for (const DeviceChoice& device : work.devices) {
    const DeviceTraining training = TrainingOn(device.info, work, data);
    largest.push_back(IsLimited(device.info) ? LargestThatFits(work, training, device.info, on_top)
                                             : 0);
  }
  return largest;
}

std::vector<std::int64_t> DeviceBytesOf(const Workload& work, const Dataset& data,
                                        const std::vector<std::int64_t>& largest) {
  const std::int64_t on_top = work.synchronous ? BytesForRound(work.model) : 0;
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i < work.devices.size(); ++i) {
    const DeviceInfo& info = work.devices[i].info;
    bytes.push_back(0);
    if (!IsLimited(info)) continue;
    const std::int64_t rows = i < largest.size() && largest[i] > 0 ? largest[i] : MostRows(work);
    const DeviceTraining training = TrainingOn(info, work, data);
    bytes.back() = std::min(info.memory_bytes, DeviceBytesToTrain(training, rows) + on_top);
  }
  return bytes;
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
