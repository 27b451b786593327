#include "runtime/workers/device_memory.h"

#include <algorithm>

#include "nn/layer_blocks.h"
#include "nn/model.h"
#include "runtime/batches/batch_copy.h"
#include "runtime/batches/forward_pass.h"
#include "runtime/workers/delta_maker.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

// Upper bounds of a batch.
struct LargestBatch {
  std::int64_t rows = 0;
  std::int64_t entries = 0;  // of sparse rows
  std::int64_t touched = 0;  // rows of a sparse first layer
  bool weighted = false;     // rows have weights
};

LargestBatch Largest(const ModelSpec& spec, const Dataset* data, std::int64_t rows) {
  constexpr std::int64_t kUsualEntries = 1024;  // of a sparse row
  const bool known = data && data->rows > 0;
  LargestBatch largest{.rows = known ? std::min(rows, data->rows) : rows,
                       .weighted = known && !data->weights.empty()};
  if (!spec.sparse_input) return largest;
  largest.entries = known ? MostEntries(*data, rows) : rows * std::min(kUsualEntries, spec.inputs);
  largest.touched = std::clamp<std::int64_t>(largest.entries, 1, spec.inputs);
  return largest;
}

std::int64_t InputBytes(const ModelSpec& spec, const LargestBatch& batch) {
  return spec.sparse_input ? BatchCopy::SparseBytes(batch.rows, batch.entries)
                           : BatchCopy::DenseBytes(batch.rows, spec.inputs);
}

// The replica, or Δ: only the touched rows of a sparse first layer.
std::int64_t LayersBytes(const ModelSpec& spec, const LargestBatch& batch) {
  const ParameterLayout layout = Layout(spec);
  return kFloat *
         (spec.sparse_input ? WithFirstHeight(layout, batch.touched).floats : layout.floats);
}

// The places of an earlier merge's touched rows among those of the next: see Replica::AddTouched.
std::int64_t PlacesBytes(const ModelSpec& spec, const LargestBatch& batch) {
  constexpr std::int64_t kPlace = sizeof(std::int32_t);
  return spec.sparse_input ? ReusedMemory::BlockBytes(batch.touched * kPlace) : 0;
}

// What each merge in flight needs.
std::int64_t MergeBytes(const ModelSpec& spec, const LargestBatch& batch) {
  const std::int64_t losses = batch.rows * kFloat;
  const std::int64_t weights = batch.weighted ? BatchCopy::WeightBytes(batch.rows) : 0;
  return 2 * LayersBytes(spec, batch) + InputBytes(spec, batch) +
         BatchCopy::LabelBytes(spec, batch.rows) + weights + losses;
}

// Libraries may copy the matrices of a product: CLBlast pads them to whole tiles, cuBLAS has a
// workspace of a fixed size.
std::int64_t ProductBytes(const ModelSpec& spec, std::int64_t rows) {
  constexpr std::int64_t kTile = 128, kWorkspace = std::int64_t{32} << 20;
  const auto padded = [](std::int64_t side) { return (side + kTile - 1) / kTile * kTile; };
  std::int64_t most = kWorkspace;
  for (const LayerShape& layer : Layout(spec).layers) {
    if (spec.sparse_input && layer.weights_at == 0) continue;  // no product of dense matrices
    const std::int64_t in = padded(layer.in), out = padded(layer.out), batch = padded(rows);
    most = std::max(most, kFloat * (batch * in + in * out + batch * out));
  }
  return most;
}

std::int64_t RowsToInfer(const ModelSpec& spec) {
  DeviceInfo distant;
  distant.shares_host_memory = false;
  return ForwardPass::MostRows(spec, distant);
}

// The last batch of a range of rows may be half as large again.
std::int64_t WithTail(std::int64_t rows) { return rows + rows / 2; }

}  // namespace

std::int64_t MostEntries(const Dataset& data, std::int64_t rows) {
  std::int64_t most = 0;
  for (std::int64_t begin = 0; data.is_sparse && begin < data.rows; ++begin) {
    const std::int64_t end = std::min(begin + rows, data.rows);
    most = std::max(most, data.offsets[end] - data.offsets[begin]);
  }
  return most;
}

std::int64_t DeviceBytesToTrain(const DeviceTraining& training, std::int64_t batch_size) {
  const ModelSpec& spec = training.spec;
  const LargestBatch batch = Largest(spec, training.data, WithTail(batch_size));
  std::int64_t merge = MergeBytes(spec, batch);
  if (training.depth > 1) merge += PlacesBytes(spec, batch);
  const std::int64_t scratch = ScratchBytes(Layout(spec), batch.rows, Use::kTraining);
  const std::int64_t updates =
      DeltaMaker::Bytes(spec, training.optimizer, training.momentum, batch.touched);
  const std::int64_t class_weights = spec.outputs * kFloat;
  return std::max(1, training.depth) * merge + scratch + updates + class_weights +
         DeviceBytesToInfer(spec, training.data);
}

std::int64_t MostRowsThatFit(const DeviceTraining& training, std::int64_t memory_bytes,
                             std::int64_t limit) {
  // A device reports all its memory. The driver, the kernels and the rounding of blocks to pages
  // take some hundred megabytes of it: 1 / 16 is left to them.
  constexpr std::int64_t kReserved = 16;
  const std::int64_t there = memory_bytes - memory_bytes / kReserved;
  const std::int64_t evaluated = RowsToInfer(training.spec);
  const auto fits = [&](std::int64_t rows) {
    const std::int64_t trained = Largest(training.spec, training.data, WithTail(rows)).rows;
    return DeviceBytesToTrain(training, rows) +
               ProductBytes(training.spec, std::max(trained, evaluated)) <=
           there;
  };
  if (fits(limit)) return limit;
  std::int64_t good = 0, bad = limit;
  while (good + 1 < bad) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

std::int64_t DeviceBytesToInfer(const ModelSpec& spec, const Dataset* data) {
  const ParameterLayout layout = Layout(spec);
  const std::int64_t rows = RowsToInfer(spec);
  LargestBatch batch = Largest(spec, data, rows);
  batch.rows = rows;  // scratch has room for these, even if the data has fewer
  return layout.floats * kFloat + ScratchBytes(layout, rows, Use::kInference) +
         InputBytes(spec, batch);
}

}  // namespace hogbatch
