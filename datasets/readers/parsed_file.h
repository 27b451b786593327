// The result of a reader: sparse rows with labels as written, in chunks that are parsed in
// parallel.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/text/text_source.h"

namespace hogbatch {

// A cell of a table that is no number: a word of its column, or nothing.
struct Cell {
  static constexpr std::int32_t kMissing = -1;
  std::int32_t column = 0;
  std::int32_t word = kMissing;  // in ParsedRows::column_words
};

// The rows of one chunk of a file. Labels are numbers, or, in a CSV, words.
struct ParsedRows {
  // Where its lines lie in the text, to find a row's again.
  std::size_t text_at = 0;
  std::size_t text_bytes = 0;
  std::vector<std::int64_t> ends;  // of each row in `columns` and `values`
  std::vector<std::int32_t> columns;
  std::vector<float> values;  // zeros are left out

  std::vector<std::int64_t> label_ends;  // of each row in `labels`
  std::vector<double> labels;
  // For each label its index in `words`, or -1 for a number; empty as long as all are numbers.
  std::vector<std::int32_t> label_words;
  std::vector<std::string> words;

  // Cells of a table that are no numbers, by row; see Cell. Empty: there are none.
  std::vector<std::int64_t> cell_ends;
  std::vector<Cell> cells;
  std::map<std::int32_t, std::vector<std::string>> column_words;  // the different ones of a column

  std::int64_t file_columns = 0;  // the largest index, also where the value is 0
  bool has_label_list = false;    // "3,17": the file is multi-label
  bool has_older_text = false;    // words that were no UTF-8; see ToUtf8

  // Adds a value to the row that is being read; zeros are dropped.
  void Add(std::int32_t column, float value) {
    if (value == 0) return;
    columns.push_back(column);
    values.push_back(value);
  }
  // Ends a row; a disordered one is sorted and values of equal columns are summed.
  enum class Order : std::uint8_t { kAscending, kDisordered };
  void EndRow(Order order);

  std::int64_t rows() const { return static_cast<std::int64_t>(ends.size()); }
  std::size_t bytes() const;  // of the arrays above

 private:
  void SortLastRow(std::size_t begin);
};

// A label as written: a word or, if that is empty, a number.
struct WrittenLabel {
  double number = 0;
  std::string_view word;
};

// One row of a chunk, and where it is.
struct ParsedRow {
  const ParsedRows* chunk;
  std::int64_t index;  // in the chunk

  std::span<const std::int32_t> columns() const;
  std::span<const float> values() const;
  std::span<const Cell> cells() const;
  std::int64_t label_count() const;
  WrittenLabel label(std::int64_t i) const;
};

class ParsedFile {
 public:
  explicit ParsedFile(std::vector<ParsedRows> chunks);

  std::int64_t rows() const { return starts_.back(); }
  std::int64_t nonzeros() const;
  std::int64_t file_columns() const;
  bool has_label_list() const;
  bool has_older_text() const;
  ParsedRow row(std::int64_t index) const;
  std::span<ParsedRows> chunks() { return chunks_; }
  std::span<const ParsedRows> chunks() const { return chunks_; }

 private:
  std::vector<ParsedRows> chunks_;
  std::vector<std::int64_t> starts_;  // the first row of each chunk, and the number of rows
};

struct ParseSettings {
  int threads = 0;  // 0: one a core
  std::size_t chunk_bytes = std::size_t{1} << 20;
  std::int64_t memory_bytes = 0;  // see MemoryBudget
  std::size_t taken_bytes = 0;    // of memory_bytes, in use already
};

// Counts what parsed rows take. Thread-safe.
class RowBudget {
 public:
  RowBudget(const ParseSettings& settings, const std::string& source)
      : most_(MemoryBudget(settings.memory_bytes)), source_(source), used_(settings.taken_bytes) {}
  // Throws UserError if the rows take too much.
  void Add(const ParsedRows& rows);

 private:
  std::size_t most_;
  std::string source_;
  std::atomic<std::size_t> used_;
};

// Where a text cannot be parsed, and why.
struct PlacedFailure {
  std::size_t at;  // byte of the text
  std::string what;
  bool is_open = false;  // see ParseFailure
};

// Cuts `text` from `begin` on after line ends and lets `parse` read the pieces in parallel. If a
// cut lies in a record that has line ends, the pieces are read one after the other. The result does
// not depend on the chunks or threads, and neither does the PlacedFailure: it is the first in the
// text. `source` names the text in the UserError of a budget.
using ChunkParser = std::function<void(std::string_view chunk, ParsedRows& out)>;
ParsedFile ParseInChunks(const TextSource& text, std::size_t begin, const std::string& source,
                         const ParseSettings& settings, const ChunkParser& parse);

// "source:line:column: what", for a byte of the text.
[[noreturn]] void ThrowAt(std::string_view source, const TextSource& text, std::size_t at,
                          std::string_view what);
// The same, where `where` points into `head`, with which the text begins.
[[noreturn]] void ThrowAt(std::string_view source, std::string_view head, const char* where,
                          std::string_view what);

}  // namespace hogbatch
