#include "runtime/batches/batch_copy.h"

#include <span>

#include "core/error.h"
#include "runtime/batches/batch.h"

namespace hogbatch {
namespace {

// The entries of the rows whose offsets CountFromFirst has copied.
template <typename T>
std::span<const T> EntriesOf(std::int64_t first, const std::vector<std::int64_t>& offsets,
                             const DeviceSpan<const T>& all) {
  return all.host_span().subspan(first, offsets.back());
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
  const std::int64_t first = CountFromFirst(x.offsets.host_span(), offsets_);
  return {.dense = {},
          .sparse = {.offsets = input_.Upload<std::int64_t>(offsets_),
                     .columns = input_.Upload(EntriesOf(first, offsets_, x.columns)),
                     .values = input_.Upload(EntriesOf(first, offsets_, x.values)),
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
    const std::int64_t first = CountFromFirst(targets.label_offsets.host_span(), label_offsets_);
    copy.label_offsets = targets_.Upload<std::int64_t>(label_offsets_);
    copy.labels = targets_.Upload(EntriesOf(first, label_offsets_, targets.labels));
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
