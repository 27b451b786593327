#include "runtime/device_memory.h"

#include <algorithm>
#include <cmath>

#include "nn/layer_blocks.h"
#include "nn/model.h"
#include "runtime/batch_copy.h"
#include "runtime/delta_maker.h"
#include "runtime/forward_pass.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr double kUsualEntries = 1024;  // of a sparse row, where they are not known

double RowEntries(const ModelSpec& spec, double known) {
  return std::min(known > 0 ? known : kUsualEntries, static_cast<double>(spec.inputs));
}

std::int64_t InputBytes(const ModelSpec& spec, std::int64_t rows, double row_entries) {
  if (!spec.sparse_input) return BatchCopy::DenseBytes(rows, spec.inputs);
  const double entries = std::ceil(static_cast<double>(rows) * RowEntries(spec, row_entries));
  return BatchCopy::SparseBytes(rows, static_cast<std::int64_t>(entries));
}

}  // namespace

std::int64_t MostEntries(const Dataset& data, std::int64_t rows) {
  std::int64_t most = 0;
  for (std::int64_t begin = 0; data.is_sparse && begin < data.rows; ++begin) {
    const std::int64_t end = std::min(begin + rows, data.rows);
    most = std::max(most, data.offsets[static_cast<std::size_t>(end)] -
                              data.offsets[static_cast<std::size_t>(begin)]);
  }
  return most;
}

std::int64_t DeviceBytesToTrain(const ModelSpec& spec, const OptimizerOptions& optimizer,
                                double momentum, std::int64_t batch_rows,
                                std::int64_t batch_entries) {
  const ParameterLayout layout = Layout(spec);
  const std::int64_t rows = batch_rows + batch_rows / 2;
  // As many stretches of batch_rows rows as cover the rows have no more than that each.
  const double row_entries = static_cast<double>(batch_entries) / static_cast<double>(batch_rows);
  const double entries = 2 * static_cast<double>(batch_rows) * RowEntries(spec, row_entries);
  const auto touched = static_cast<std::int64_t>(
      std::clamp(std::ceil(entries), 1.0, static_cast<double>(spec.inputs)));
  const ParameterLayout part = spec.sparse_input ? WithFirstHeight(layout, touched) : layout;

  std::int64_t bytes = 2 * part.floats * kFloat;  // the replica and Δ
  bytes += DeltaMaker::Bytes(spec, optimizer, momentum, touched);
  bytes += ScratchBytes(layout, rows, Use::kTraining);
  bytes += InputBytes(spec, spec.sparse_input ? 2 * batch_rows : rows, row_entries);
  bytes += BatchCopy::TargetBytes(spec, rows);
  bytes += spec.outputs * kFloat;  // class weights
  return bytes + DeviceBytesToInfer(spec, row_entries);
}

std::int64_t DeviceBytesToInfer(const ModelSpec& spec, double row_entries) {
  const ParameterLayout layout = Layout(spec);
  DeviceInfo distant;
  distant.shares_host_memory = false;
  const std::int64_t rows = ForwardPass::MostRows(spec, distant);
  return layout.floats * kFloat + ScratchBytes(layout, rows, Use::kInference) +
         InputBytes(spec, rows, row_entries);
}

}  // namespace hogbatch
