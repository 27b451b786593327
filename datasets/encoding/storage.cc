#include "datasets/encoding/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/guard/mapped_faults.h"
#include "datasets/text/text_source.h"

namespace hogbatch {
namespace {

template <typename T>
std::size_t BytesOf(const Array<T>& values) {
  return values.is_mapped() ? 0 : values.size() * sizeof(T);
}

std::array<const void*, 9> ArraysOf(const Dataset& data) {
  return {data.dense.data(),  data.offsets.data(), data.columns.data(),
          data.values.data(), data.classes.data(), data.label_offsets.data(),
          data.labels.data(), data.targets.data(), data.weights.data()};
}

void MakeDense(Dataset& data, std::int64_t memory_bytes) {
  CheckFits(DenseBytes(data.rows, data.features), memory_bytes, data.source,
            "keep the rows sparse");
  data.dense.assign(data.rows * data.features, 0);
  for (std::int64_t row = 0; row < data.rows; ++row) {
    for (std::int64_t i = data.offsets[row]; i < data.offsets[row + 1]; ++i) {
      data.dense[row * data.features + data.columns[i]] = data.values[i];
    }
  }
  Release(data.offsets);
  Release(data.columns);
  Release(data.values);
  data.is_sparse = false;
}

void MakeSparse(Dataset& data) {
  const auto nonzeros = std::ranges::count_if(data.dense, [](float x) { return x != 0; });
  data.columns.reserve(nonzeros);
  data.values.reserve(nonzeros);
  data.offsets.assign(1, 0);
  data.offsets.reserve(data.rows + 1);
  const float* value = data.dense.data();
  for (std::int64_t row = 0; row < data.rows; ++row) {
    for (std::int64_t column = 0; column < data.features; ++column, ++value) {
      if (*value == 0) continue;
      data.columns.push_back(static_cast<std::int32_t>(column));
      data.values.push_back(*value);
    }
    data.offsets.push_back(std::ssize(data.values));
  }
  Release(data.dense);
  data.is_sparse = true;
}

}  // namespace

std::int64_t Dataset::bytes() const {
  return static_cast<std::int64_t>(BytesOf(dense) + BytesOf(offsets) + BytesOf(columns) +
                                   BytesOf(values) + BytesOf(classes) + BytesOf(label_offsets) +
                                   BytesOf(labels) + BytesOf(targets) + BytesOf(weights));
}

bool IsReadable(const Dataset& data) {
  return std::ranges::all_of(ArraysOf(data), [](const void* array) { return IsReadable(array); });
}

void RequireReadable(const Dataset& data) {
  for (const void* const array : ArraysOf(data)) RequireReadable(array);
}

void ConvertStorage(Dataset& data, Storage storage, std::int64_t memory_bytes) {
  if (storage == Storage::kDense && data.is_sparse) MakeDense(data, memory_bytes);
  if (storage == Storage::kSparse && !data.is_sparse) MakeSparse(data);
}

double DenseBytes(std::int64_t rows, std::int64_t features) {
  return 4.0 * static_cast<double>(rows) * static_cast<double>(features);
}

double SparseBytes(std::int64_t rows, std::int64_t nonzeros) {
  return 8.0 * (static_cast<double>(rows) + static_cast<double>(nonzeros));
}

Storage SmallerStorage(std::int64_t rows, std::int64_t features, std::int64_t nonzeros) {
  return SparseBytes(rows, nonzeros) < DenseBytes(rows, features) ? Storage::kSparse
                                                                  : Storage::kDense;
}

void CheckFits(double bytes, std::int64_t memory_bytes, const std::string& source,
               const std::string& advice) {
  const auto budget = static_cast<double>(MemoryBudget(memory_bytes));
  if (bytes <= budget) return;
  throw UserError(
      fmt::format("{}: the rows would take {:.1f} GB, and the limit for one data set is {:.1f} GB; "
                  "{}, or raise it with --memory-limit",
                  source, bytes / 1e9, budget / 1e9, advice));
}

void AppendRows(Dataset more, Dataset& data) {
  ConvertStorage(more, data.is_sparse ? Storage::kSparse : Storage::kDense);
  const auto append = [](const auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto append_offsets = [](const Array<std::int64_t>& from, Array<std::int64_t>& to) {
    const std::int64_t base = to.empty() ? 0 : to.back();
    for (std::size_t i = to.empty() ? 0 : 1; i < from.size(); ++i) to.push_back(base + from[i]);
  };
  append(more.dense, data.dense);
  append_offsets(more.offsets, data.offsets);
  append(more.columns, data.columns);
  append(more.values, data.values);
  append(more.classes, data.classes);
  append_offsets(more.label_offsets, data.label_offsets);
  append(more.labels, data.labels);
  append(more.targets, data.targets);
  append(more.weights, data.weights);
  append(more.notes, data.notes);
  data.rows += more.rows;
}

}  // namespace hogbatch
