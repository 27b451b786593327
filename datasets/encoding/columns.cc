#include "datasets/encoding/columns.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "datasets/parallel.h"

namespace hogbatch {
namespace {

// Up to this many columns, all become features.
constexpr std::int64_t kFewColumns = 65536;

std::vector<std::int64_t> UsedColumns(const ParsedFile& file, int threads) {
  std::vector<std::int32_t> all;
  std::mutex mutex;
  const std::span<const ParsedRows> chunks = file.chunks();
  ParallelFor(static_cast<std::int64_t>(chunks.size()), threads, [&](std::int64_t i) {
    std::vector<std::int32_t> mine = chunks[i].columns;
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    const std::lock_guard lock(mutex);
    std::vector<std::int32_t> merged;
    merged.reserve(all.size() + mine.size());
    std::set_union(all.begin(), all.end(), mine.begin(), mine.end(), std::back_inserter(merged));
    all = std::move(merged);
  });
  return {all.begin(), all.end()};
}

// The feature of a file column, or -1.
class FeatureMap {
 public:
  FeatureMap(const Schema& schema, std::int64_t nonzeros) : used_(schema.used_columns) {
    // A table is faster, but must not take more memory than the data.
    if (schema.file_columns > nonzeros) return;
    table_.assign(schema.file_columns, -1);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      table_[used_[i]] = static_cast<std::int32_t>(i);
    }
  }

  std::int32_t Find(std::int32_t column) const {
    if (!table_.empty()) return table_[column];
    const auto found = std::lower_bound(used_.begin(), used_.end(), column);
    if (found == used_.end() || *found != column) return -1;
    return static_cast<std::int32_t>(found - used_.begin());
  }

 private:
  const std::vector<std::int64_t>& used_;
  std::vector<std::int32_t> table_;
};

void Renumber(ParsedRows& chunk, const FeatureMap& features) {
  std::int64_t kept = 0;
  std::int64_t next = 0;
  for (std::int64_t& end : chunk.ends) {
    for (; next < end; ++next) {
      const std::int32_t feature = features.Find(chunk.columns[next]);
      if (feature < 0) continue;
      chunk.columns[kept] = feature;
      chunk.values[kept++] = chunk.values[next];
    }
    end = kept;
  }
  chunk.columns.resize(kept);
  chunk.values.resize(kept);
}

}  // namespace

void LearnColumns(ParsedFile& file, Schema& schema, int threads) {
  schema.file_columns = file.file_columns();
  schema.features = schema.file_columns;
  if (schema.file_columns <= kFewColumns) return;
  std::vector<std::int64_t> used = UsedColumns(file, threads);
  if (static_cast<std::int64_t>(used.size()) * 2 >= schema.file_columns) return;
  schema.features = static_cast<std::int64_t>(used.size());
  schema.used_columns = std::move(used);
  ApplyColumns(file, schema, threads);
}

void ApplyColumns(ParsedFile& file, const Schema& schema, int threads) {
  if (schema.used_columns.empty()) return;
  const FeatureMap features(schema, file.nonzeros());
  const std::span<ParsedRows> chunks = file.chunks();
  ParallelFor(static_cast<std::int64_t>(chunks.size()), threads,
              [&](std::int64_t i) { Renumber(chunks[i], features); });
}

}  // namespace hogbatch
