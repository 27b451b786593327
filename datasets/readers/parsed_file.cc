#include "datasets/readers/parsed_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"
#include "datasets/parallel.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

std::size_t BeginOfRow(const std::vector<std::int64_t>& ends, std::int64_t index) {
  return index == 0 ? 0 : static_cast<std::size_t>(ends[static_cast<std::size_t>(index) - 1]);
}

std::size_t EndOfRow(const std::vector<std::int64_t>& ends, std::int64_t index) {
  return static_cast<std::size_t>(ends[static_cast<std::size_t>(index)]);
}

std::vector<std::string_view> CutAfterLines(std::string_view text, std::size_t chunk_bytes) {
  std::vector<std::string_view> chunks;
  while (!text.empty()) {
    const std::size_t newline = chunk_bytes < text.size()
                                    ? text.find('\n', std::max<std::size_t>(chunk_bytes, 1) - 1)
                                    : std::string_view::npos;
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    chunks.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return chunks;
}

}  // namespace

void ParsedRows::EndRow(Order order) {
  const std::size_t begin = BeginOfRow(ends, rows());
  if (order == Order::kDisordered) SortLastRow(begin);
  ends.push_back(static_cast<std::int64_t>(columns.size()));
  label_ends.push_back(static_cast<std::int64_t>(labels.size()));
}

void ParsedRows::SortLastRow(std::size_t begin) {
  const std::vector<float> written(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                   values.end());
  // Equal columns keep their order, so that their sum rounds the same way everywhere.
  std::vector<std::pair<std::int32_t, std::size_t>> order;
  for (std::size_t i = begin; i < columns.size(); ++i) order.emplace_back(columns[i], i - begin);
  std::sort(order.begin(), order.end());
  columns.resize(begin);
  values.resize(begin);
  for (const auto& [column, at] : order) {
    if (columns.size() > begin && columns.back() == column) {
      values.back() += written[at];
    } else {
      columns.push_back(column);
      values.push_back(written[at]);
    }
  }
}

std::span<const std::int32_t> ParsedRow::columns() const {
  const std::size_t begin = BeginOfRow(chunk->ends, index);
  return std::span(chunk->columns).subspan(begin, EndOfRow(chunk->ends, index) - begin);
}

std::span<const float> ParsedRow::values() const {
  const std::size_t begin = BeginOfRow(chunk->ends, index);
  return std::span(chunk->values).subspan(begin, EndOfRow(chunk->ends, index) - begin);
}

std::int64_t ParsedRow::label_count() const {
  return static_cast<std::int64_t>(EndOfRow(chunk->label_ends, index) -
                                   BeginOfRow(chunk->label_ends, index));
}

WrittenLabel ParsedRow::label(std::int64_t i) const {
  const std::size_t at = BeginOfRow(chunk->label_ends, index) + static_cast<std::size_t>(i);
  WrittenLabel label{.number = chunk->labels[at], .word = {}};
  if (!chunk->label_words.empty() && chunk->label_words[at] >= 0) {
    label.word = chunk->words[static_cast<std::size_t>(chunk->label_words[at])];
  }
  return label;
}

ParsedFile::ParsedFile(std::vector<ParsedRows> chunks) : chunks_(std::move(chunks)), starts_{0} {
  for (const ParsedRows& chunk : chunks_) starts_.push_back(starts_.back() + chunk.rows());
}

std::int64_t ParsedFile::nonzeros() const {
  std::size_t count = 0;
  for (const ParsedRows& chunk : chunks_) count += chunk.values.size();
  return static_cast<std::int64_t>(count);
}

std::int64_t ParsedFile::file_columns() const {
  std::int64_t largest = 0;
  for (const ParsedRows& chunk : chunks_) largest = std::max(largest, chunk.file_columns);
  return largest;
}

bool ParsedFile::has_label_list() const {
  return std::any_of(chunks_.begin(), chunks_.end(),
                     [](const ParsedRows& chunk) { return chunk.has_label_list; });
}

ParsedRow ParsedFile::row(std::int64_t index) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), index);
  const std::size_t chunk = static_cast<std::size_t>(after - starts_.begin()) - 1;
  return {.chunk = &chunks_[chunk], .index = index - starts_[chunk]};
}

ParsedFile ParseInChunks(std::string_view text, const ParseSettings& settings,
                         const ChunkParser& parse) {
  const std::vector<std::string_view> pieces = CutAfterLines(text, settings.chunk_bytes);
  std::vector<ParsedRows> chunks(pieces.size());
  std::vector<std::optional<ParseFailure>> failures(pieces.size());
  // Pieces start in order. When one fails, all pieces before it have started, and those after it no
  // longer matter.
  std::atomic<bool> failed = false;
  ParallelFor(static_cast<std::int64_t>(pieces.size()), settings.threads, [&](std::int64_t index) {
    if (failed) return;
    const std::size_t i = static_cast<std::size_t>(index);
    chunks[i].text = pieces[i].data();
    try {
      parse(pieces[i], chunks[i]);
    } catch (ParseFailure& failure) {
      failures[i] = std::move(failure);
      failed = true;
    }
  });
  for (std::optional<ParseFailure>& failure : failures) {
    if (failure) throw std::move(*failure);
  }
  return ParsedFile(std::move(chunks));
}

void ThrowAt(std::string_view source, std::string_view text, const char* where,
             std::string_view what) {
  const std::string_view before = text.substr(0, static_cast<std::size_t>(where - text.data()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  throw UserError(fmt::format("{}:{}:{}: {}", source, line, before.size() - begin + 1, what));
}

}  // namespace hogbatch
