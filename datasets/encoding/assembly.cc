#include "datasets/encoding/assembly.h"

#include <algorithm>

#include "core/ids.h"
#include "datasets/encoding/storage.h"
#include "datasets/parallel.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kRowsAPart = 16384;

ParsedRow SourceRow(const ParsedFile& file, std::span<const std::int64_t> order, std::int64_t row) {
  return file.row(order.empty() ? row : order[static_cast<std::size_t>(row)]);
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
  const auto features = static_cast<std::size_t>(data.features);
  data.dense.resize(static_cast<std::size_t>(data.rows) * features);
  ForEachRow(data.rows, threads, [&](std::int64_t i) {
    const ParsedRow row = SourceRow(file, order, i);
    float* out = data.dense.data() + static_cast<std::size_t>(i) * features;
    const std::span<const std::int32_t> columns = row.columns();
    const std::span<const float> values = row.values();
    for (std::size_t j = 0; j < columns.size(); ++j) {
      out[static_cast<std::size_t>(columns[j])] = values[j];
    }
  });
}

void FillSparse(const ParsedFile& file, std::span<const std::int64_t> order, int threads,
                Dataset& data) {
  data.offsets.assign(static_cast<std::size_t>(data.rows) + 1, 0);
  for (std::int64_t i = 0; i < data.rows; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    data.offsets[at + 1] =
        data.offsets[at] + static_cast<std::int64_t>(SourceRow(file, order, i).values().size());
  }
  data.columns.resize(static_cast<std::size_t>(data.offsets.back()));
  data.values.resize(static_cast<std::size_t>(data.offsets.back()));
  ForEachRow(data.rows, threads, [&](std::int64_t i) {
    const ParsedRow row = SourceRow(file, order, i);
    const std::int64_t at = data.offsets[static_cast<std::size_t>(i)];
    std::copy(row.columns().begin(), row.columns().end(), data.columns.begin() + at);
    std::copy(row.values().begin(), row.values().end(), data.values.begin() + at);
  });
}

}  // namespace

void AssembleRows(const ParsedFile& file, std::span<const std::int64_t> order, int threads,
                  Dataset& data) {
  data.rows = file.rows();
  data.is_sparse = SmallerStorage(data.rows, data.features, file.nonzeros()) == Storage::kSparse;
  if (data.is_sparse) {
    FillSparse(file, order, threads, data);
  } else {
    FillDense(file, order, threads, data);
  }
}

}  // namespace hogbatch
