#include "runtime/batches/batch_copy.h"

#include <span>

#include "core/error.h"

namespace hogbatch {
namespace {

// The entries of the rows that `offsets` delimit.
template <typename T>
std::span<const T> EntriesOf(std::span<const std::int64_t> offsets,
                             const DeviceSpan<const T>& all) {
  return all.host_span().subspan(offsets.front(), offsets.back() - offsets.front());
}

void CountFromFirst(std::span<const std::int64_t> from, std::vector<std::int64_t>& to) {
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] - from.front();
}

template <typename T>
std::int64_t Bytes(std::int64_t count) {
  return ReusedMemory::BlockBytes(count * static_cast<std::int64_t>(sizeof(T)));
}

}  // namespace

BatchInput BatchCopy::Upload(const BatchInput& rows) {
  input_.Restart();
  if (!rows.is_sparse) {
    const Tensor& x = rows.dense;
    Check(x.stride == x.cols, "rows of a data set are contiguous");
    const std::span<const float> host(x.host(), x.rows * x.cols);
    return {.dense = Tensor::Matrix(input_.Upload(host), x.rows, x.cols), .sparse = {}};
  }
  const CsrTensor& x = rows.sparse;
  const std::span<const std::int64_t> offsets = x.offsets.host_span();
  CountFromFirst(offsets, offsets_);
  return {.dense = {},
          .sparse = {.offsets = input_.Upload<std::int64_t>(offsets_),
                     .columns = input_.Upload(EntriesOf(offsets, x.columns)),
                     .values = input_.Upload(EntriesOf(offsets, x.values)),
                     .rows = x.rows,
                     .cols = x.cols},
          .is_sparse = true};
}

Targets BatchCopy::Upload(const Targets& targets) {
  targets_.Restart();
  Targets copy;
  if (targets.classes.size > 0) copy.classes = targets_.Upload(targets.classes.host_span());
  if (targets.values.size > 0) copy.values = targets_.Upload(targets.values.host_span());
  if (targets.weights.size > 0) copy.weights = targets_.Upload(targets.weights.host_span());
  if (targets.label_offsets.size > 0) {
    const std::span<const std::int64_t> offsets = targets.label_offsets.host_span();
    CountFromFirst(offsets, label_offsets_);
    copy.label_offsets = targets_.Upload<std::int64_t>(label_offsets_);
    copy.labels = targets_.Upload(EntriesOf(offsets, targets.labels));
  }
  return copy;
}

std::int64_t BatchCopy::DenseBytes(std::int64_t rows, std::int64_t features) {
  return Bytes<float>(rows * features);
}

std::int64_t BatchCopy::SparseBytes(std::int64_t rows, std::int64_t entries) {
  return Bytes<std::int64_t>(rows + 1) + Bytes<std::int32_t>(entries) + Bytes<float>(entries);
}

std::int64_t BatchCopy::LabelBytes(const ModelSpec& spec, std::int64_t rows) {
  if (spec.loss != Loss::kSigmoid) return Bytes<float>(rows);
  return Bytes<std::int64_t>(rows + 1) + Bytes<std::int32_t>(rows * spec.outputs);
}

std::int64_t BatchCopy::WeightBytes(std::int64_t rows) { return Bytes<float>(rows); }

}  // namespace hogbatch
