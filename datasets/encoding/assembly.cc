#include "datasets/encoding/assembly.h"

#include <algorithm>

#include "core/ids.h"
#include "datasets/encoding/storage.h"
#include "datasets/parallel.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kRowsAPart = 16384;

ParsedRow SourceRow(const ParsedFile& file, std::span<const std::int64_t> order, std::int64_t row) {
  return file.row(order.empty() ? row : order[row]);
}

template <typename Body>
void ForEachRow(std::int64_t rows, int threads, const Body& body) {
  const std::int64_t parts = (rows + kRowsAPart - 1) / kRowsAPart;
  ParallelFor(parts, threads, [&](std::int64_t part) {
    const RowRange range = Part({0, rows}, part, parts);
    for (std::int64_t row = range.begin; row < range.end; ++row) body(row);
  });
}

void FillDense(const ParsedFile& file, std::span<const std::int64_t> order, int threads,
               Dataset& data) {
  data.dense.resize(data.rows * data.features);
  ForEachRow(data.rows, threads, [&](std::int64_t i) {
    const ParsedRow row = SourceRow(file, order, i);
    float* out = data.dense.data() + i * data.features;
    const std::span<const std::int32_t> columns = row.columns();
    const std::span<const float> values = row.values();
    for (std::size_t j = 0; j < columns.size(); ++j) out[columns[j]] = values[j];
  });
}

void FillSparse(const ParsedFile& file, std::span<const std::int64_t> order, int threads,
                Dataset& data) {
  data.offsets.assign(data.rows + 1, 0);
  for (std::int64_t i = 0; i < data.rows; ++i) {
    data.offsets[i + 1] = data.offsets[i] + std::ssize(SourceRow(file, order, i).values());
  }
  data.columns.resize(data.offsets.back());
  data.values.resize(data.offsets.back());
  ForEachRow(data.rows, threads, [&](std::int64_t i) {
    const ParsedRow row = SourceRow(file, order, i);
    const std::int64_t at = data.offsets[i];
    std::copy(row.columns().begin(), row.columns().end(), data.columns.begin() + at);
    std::copy(row.values().begin(), row.values().end(), data.values.begin() + at);
  });
}

}  // namespace

void AssembleRows(const ParsedFile& file, std::span<const std::int64_t> order, int threads,
                  Dataset& data) {
  data.rows = order.empty() ? file.rows() : std::ssize(order);
  data.is_sparse = SmallerStorage(data.rows, data.features, file.nonzeros()) == Storage::kSparse;
  if (data.is_sparse) {
    FillSparse(file, order, threads, data);
  } else {
    FillDense(file, order, threads, data);
  }
}

}  // namespace hogbatch
