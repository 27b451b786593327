#include "datasets/encoding/table_survey.h"

#include <algorithm>
#include <mutex>

#include "datasets/parallel.h"

namespace hogbatch {
namespace {

// Counts one chunk, whose first row is row `first` of the file.
class ChunkSurvey {
 public:
  ChunkSurvey(const ParsedRows& chunk, std::int64_t first, std::span<const double> first_numbers,
              std::span<const char> is_training)
      : chunk_(chunk), first_(first), columns_(first_numbers.size()) {
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].first_number = first_numbers[i];
    for (const auto& [column, words] : chunk.column_words) {
      columns_[column].word_counts.resize(words.size());
    }
    for (std::int64_t row = 0; row < chunk.rows(); ++row) {
      AddRow(row, is_training[first + row] != 0);
    }
  }

  void MergeInto(std::vector<ColumnSurvey>& all, std::int64_t train_rows) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) Merge(columns_[i], all[i], train_rows);
    for (const auto& [column, words] : chunk_.column_words) {
      ColumnSurvey& survey = all[column];
      const auto& counts = columns_[column].word_counts;
      for (std::size_t i = 0; i < words.size(); ++i) {
        WordCount& count = survey.different_words[words[i]];
        count.rows += counts[i].rows;
        count.train_rows += counts[i].train_rows;
      }
    }
  }

 private:
  struct Column {
    double first_number = 0;  // in the file
    std::int64_t stored = 0, train_stored = 0;
    std::int64_t words = 0, train_words = 0;
    std::int64_t missing = 0, train_missing = 0;
    double least = 0;  // of stored numbers
    double most = 0;
    double train_sum = 0;
    bool counts_up = true;
    std::vector<WordCount> word_counts;
  };

  void AddRow(std::int64_t row, bool trains) {
    const ParsedRow cells{.chunk = &chunk_, .index = row};
    const auto columns = cells.columns();
    const auto values = cells.values();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      Column& column = columns_[columns[i]];
      const double value = values[i];
      column.least = column.stored == 0 ? value : std::min(column.least, value);
      column.most = column.stored == 0 ? value : std::max(column.most, value);
      ++column.stored;
      if (value != column.first_number + static_cast<double>(first_ + row)) {
        column.counts_up = false;
      }
      if (!trains) continue;
      ++column.train_stored;
      column.train_sum += value;
    }
    for (const Cell& cell : cells.cells()) {
      Column& column = columns_[cell.column];
      column.counts_up = false;
      if (cell.word == Cell::kMissing) {
        ++column.missing;
        if (trains) ++column.train_missing;
        continue;
      }
      WordCount& count = column.word_counts[cell.word];
      ++count.rows;
      ++column.words;
      if (!trains) continue;
      ++count.train_rows;
      ++column.train_words;
    }
  }

  void Merge(const Column& from, ColumnSurvey& to, std::int64_t train_rows) const {
    const std::int64_t numbers = chunk_.rows() - from.words - from.missing;
    const bool has_zeros = from.stored < numbers;
    if (numbers > 0) {
      const double min = has_zeros ? std::min(from.least, 0.0) : from.least;
      const double max = has_zeros ? std::max(from.most, 0.0) : from.most;
      to.min = to.numbers == 0 ? min : std::min(to.min, min);
      to.max = to.numbers == 0 ? max : std::max(to.max, max);
    }
    // Zeros are not stored; a column that counts up has one at most.
    const double zero_row = -from.first_number;
    const bool zero_is_here = zero_row >= static_cast<double>(first_) &&
                              zero_row < static_cast<double>(first_ + chunk_.rows());
    const bool counts_up = from.counts_up && numbers - from.stored == (zero_is_here ? 1 : 0);
    to.counts_up = (to.numbers + to.words + to.missing == 0 || to.counts_up) && counts_up;
    to.numbers += numbers;
    to.words += from.words;
    to.missing += from.missing;
    to.train_numbers += train_rows - from.train_words - from.train_missing;
    to.train_missing += from.train_missing;
    to.train_sum += from.train_sum;
  }

  const ParsedRows& chunk_;
  const std::int64_t first_;
  std::vector<Column> columns_;
};

std::vector<double> NumbersOfRow(const ParsedFile& file, std::int64_t columns) {
  std::vector<double> numbers(columns);
  if (file.rows() == 0) return numbers;
  const ParsedRow row = file.row(0);
  for (std::size_t i = 0; i < row.columns().size(); ++i) {
    numbers[row.columns()[i]] = row.values()[i];
  }
  return numbers;
}

}  // namespace

std::vector<ColumnSurvey> SurveyTable(const ParsedFile& file, std::int64_t columns,
                                      std::span<const char> is_training, int threads) {
  std::vector<ColumnSurvey> all(columns);
  const std::vector<double> first_numbers = NumbersOfRow(file, columns);
  const std::span<const ParsedRows> chunks = file.chunks();
  std::vector<std::int64_t> firsts(chunks.size());
  std::int64_t next = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    firsts[i] = next;
    next += chunks[i].rows();
  }
  std::mutex mutex;
  ParallelFor(static_cast<std::int64_t>(chunks.size()), threads, [&](std::int64_t index) {
    const std::size_t i = index;
    if (chunks[i].rows() == 0) return;
    const ChunkSurvey survey(chunks[i], firsts[i], first_numbers, is_training);
    const auto rows = is_training.subspan(firsts[i], chunks[i].rows());
    const std::int64_t train_rows = std::ranges::count_if(rows, [](char is) { return is != 0; });
    const std::lock_guard lock(mutex);
    survey.MergeInto(all, train_rows);
  });
  return all;
}

std::vector<std::int64_t> MixedColumns(const ParsedFile& file, std::int64_t columns) {
  std::vector<std::int64_t> cells(columns);
  std::vector<bool> has_words(columns);
  for (const ParsedRows& chunk : file.chunks()) {
    for (const Cell& cell : chunk.cells) ++cells[cell.column];
    for (const auto& [column, words] : chunk.column_words) {
      if (!words.empty()) has_words[column] = true;
    }
  }
  std::vector<std::int64_t> mixed;
  for (std::int64_t i = 0; i < columns; ++i) {
    if (has_words[i] && cells[i] < file.rows()) mixed.push_back(i);
  }
  return mixed;
}

std::int64_t FirstRowWith(const ParsedFile& file, std::int64_t column,
                          std::span<const std::string> words) {
  for (std::int64_t i = 0; i < file.rows(); ++i) {
    const ParsedRow row = file.row(i);
    for (const Cell& cell : row.cells()) {
      if (cell.column != column || cell.word == Cell::kMissing) continue;
      const auto& known = row.chunk->column_words.at(cell.column);
      if (std::ranges::find(words, known[cell.word]) != words.end()) {
        return i;
      }
    }
  }
  return -1;
}

}  // namespace hogbatch
