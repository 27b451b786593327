#include "datasets/encoding/encode_table.h"

#include <xxhash.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "datasets/encoding/learn_table.h"
#include "datasets/parallel.h"
#include "datasets/readers/missing.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/written_date.h"
#include "datasets/readers/written_number.h"

namespace hogbatch {
namespace {

// The same on every machine, since a model depends on it.
std::int64_t HashWord(std::string_view word, int bits) {
  return static_cast<std::int64_t>(XXH3_64bits(word.data(), word.size()) >> (64 - bits));
}

struct FeatureValue {
  std::int32_t feature;
  float value;
};
using FeatureValues = std::vector<FeatureValue>;

// What each cell of one column becomes.
class ColumnEncoder {
 public:
  explicit ColumnEncoder(const TableColumn& column) : column_(column) {
    for (std::size_t i = 0; i < column.categories.size(); ++i) {
      categories_.emplace(column.categories[i], static_cast<std::int64_t>(i));
    }
    missing_ = Missing();
  }

  const TableColumn& column() const { return column_; }
  const FeatureValues& missing() const { return missing_; }

  FeatureValues Word(const std::string& word) const {
    switch (column_.kind) {
      case ColumnKind::kNumber:
        return NumberWord(word);
      case ColumnKind::kCategory:
        return Category(word);
      case ColumnKind::kHashed:
        return {{At(HashWord(CategoryName(word), column_.hash_bits)), 1}};
      case ColumnKind::kDate:
        return Date(word);
      case ColumnKind::kLeftOut:
        break;
    }
    return {};
  }

 private:
  std::int32_t At(std::int64_t feature) const {
    return static_cast<std::int32_t>(column_.feature + feature);
  }

  FeatureValues Missing() const {
    FeatureValues values;
    if (column_.kind == ColumnKind::kNumber || column_.kind == ColumnKind::kDate) {
      values.push_back({At(0), column_.fill});
    } else if (column_.kind == ColumnKind::kCategory && !column_.categories.empty()) {
      values.push_back({At(column_.fill_category), 1});
    }
    if (column_.has_indicator) values.push_back({At(column_.features() - 1), 1});
    return values;
  }

  // A word in a column of numbers that is none is taken for missing: the reader has said so.
  FeatureValues NumberWord(const std::string& word) const {
    const auto number = ParseWrittenNumber(word, column_.style);
    if (!number || !std::isfinite(static_cast<float>(*number))) return missing_;
    return {{At(0), static_cast<float>(*number)}};
  }

  FeatureValues Category(const std::string& word) const {
    const auto found = categories_.find(CategoryName(word));
    if (found != categories_.end()) return {{At(found->second), 1}};
    if (column_.has_other) return {{At(std::ssize(column_.categories)), 1}};
    return {};
  }

  FeatureValues Date(const std::string& word) const {
    const auto date = ParseWrittenDate(word, column_.date_order);
    if (!date) return missing_;
    FeatureValues values = {{At(0), static_cast<float>(date->days)}};
    const auto add_cycle = [&](std::int64_t feature, double days) {
      const double angle = 2 * std::numbers::pi * date->days / days;
      values.push_back({At(feature), static_cast<float>(std::sin(angle))});
      values.push_back({At(feature + 1), static_cast<float>(std::cos(angle))});
    };
    add_cycle(1, 365.2425);
    add_cycle(3, 7);
    if (column_.has_time_of_day) add_cycle(5, 1);
    return values;
  }

  const TableColumn& column_;
  std::unordered_map<std::string, std::int64_t> categories_;
  FeatureValues missing_;
};

// Writes the rows of one chunk anew.
class ChunkEncoder {
 public:
  ChunkEncoder(const ParsedRows& chunk, const std::vector<ColumnEncoder>& columns)
      : chunk_(chunk), columns_(columns) {
    for (const auto& [column, words] : chunk.column_words) {
      auto& values = words_[column];
      for (const std::string& word : words) values.push_back(EncoderOf(column).Word(word));
    }
  }

  void Encode(ParsedRows& out) {
    for (std::int64_t row = 0; row < chunk_.rows(); ++row) {
      last_ = -1;
      order_ = ParsedRows::Order::kAscending;
      AddRow({.chunk = &chunk_, .index = row}, out);
      out.EndRow(order_);
    }
  }

 private:
  const ColumnEncoder& EncoderOf(std::int32_t column) const { return columns_[column]; }

  void AddRow(const ParsedRow& row, ParsedRows& out) {
    const auto columns = row.columns();
    const auto values = row.values();
    std::size_t next = 0;
    for (const Cell& cell : row.cells()) {
      for (; next < columns.size() && columns[next] < cell.column; ++next) {
        AddNumber(columns[next], values[next], out);
      }
      const FeatureValues& encoded = cell.word == Cell::kMissing ? EncoderOf(cell.column).missing()
                                                                 : words_[cell.column][cell.word];
      for (const FeatureValue& one : encoded) Add(one, out);
    }
    for (; next < columns.size(); ++next) AddNumber(columns[next], values[next], out);
  }

  void AddNumber(std::int32_t column, float value, ParsedRows& out) {
    const TableColumn& table = EncoderOf(column).column();
    if (table.kind == ColumnKind::kNumber) {
      Add({static_cast<std::int32_t>(table.feature), value}, out);
    }
  }

  void Add(FeatureValue one, ParsedRows& out) {
    if (one.feature < last_) order_ = ParsedRows::Order::kDisordered;
    last_ = one.feature;
    out.Add(one.feature, one.value);
  }

  const ParsedRows& chunk_;
  const std::vector<ColumnEncoder>& columns_;
  std::unordered_map<std::int32_t, std::vector<FeatureValues>> words_;
  std::int32_t last_ = -1;
  ParsedRows::Order order_ = ParsedRows::Order::kAscending;
};

// Whether every column is the feature of the same number.
bool IsPlain(const std::vector<TableColumn>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].kind != ColumnKind::kNumber || columns[i].has_indicator ||
        columns[i].feature != static_cast<std::int64_t>(i)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void EncodeTable(ParsedFile& file, const std::vector<TableColumn>& columns, int threads) {
  const bool is_plain = IsPlain(columns);
  const std::vector<ColumnEncoder> encoders(columns.begin(), columns.end());
  const std::span<ParsedRows> chunks = file.chunks();
  ParallelFor(static_cast<std::int64_t>(chunks.size()), threads, [&](std::int64_t index) {
    ParsedRows& chunk = chunks[index];
    if (is_plain && chunk.cells.empty()) return;
    ParsedRows encoded;
    encoded.columns.reserve(chunk.columns.size() + chunk.cells.size());
    encoded.values.reserve(chunk.columns.size() + chunk.cells.size());
    ChunkEncoder(chunk, encoders).Encode(encoded);
    chunk.ends = std::move(encoded.ends);
    chunk.columns = std::move(encoded.columns);
    chunk.values = std::move(encoded.values);
    chunk.cells = {};
    chunk.cell_ends = {};
    chunk.column_words = {};
  });
}

}  // namespace hogbatch
