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
  return index == 0 ? 0 : ends[index - 1];
}

std::size_t EndOfRow(const std::vector<std::int64_t>& ends, std::int64_t index) {
  return ends[index];
}

// Whole lines of a text.
struct Piece {
  std::size_t begin = 0;
  std::string_view lines;
};

// The lines that begin in bytes [begin, end) of the text, of which `first` is the first that
// counts. Each line belongs to one such range, so ranges are read independently of each other.
Piece ReadPiece(const TextSource& text, std::size_t first, std::size_t begin, std::size_t end,
                Bytes& window) {
  // The byte before tells whether a line begins right there.
  const std::size_t from = begin == first ? begin : begin - 1;
  for (std::size_t beyond = std::max<std::size_t>((end - begin) / 16, 256);; beyond *= 2) {
    const std::string_view bytes = text.Read(from, end - from + beyond, window);
    std::size_t skipped = 0;
    if (from != begin) {
      skipped = bytes.substr(0, end - from).find('\n') + 1;  // npos + 1 is 0
      if (skipped == 0 || from + skipped >= end) return {};
    }
    const std::size_t newline = bytes.find('\n', end - from - 1);
    if (newline == std::string_view::npos && from + bytes.size() < text.size()) continue;
    const std::size_t last = newline == std::string_view::npos ? bytes.size() : newline + 1;
    return {from + skipped, bytes.substr(skipped, last - skipped)};
  }
}

std::optional<PlacedFailure> ParsePiece(const Piece& piece, const ChunkParser& parse,
                                        ParsedRows& rows) {
  rows.text_at = piece.begin;
  rows.text_bytes = piece.lines.size();
  try {
    parse(piece.lines, rows);
    return std::nullopt;
  } catch (ParseFailure& failure) {
    const std::size_t at = failure.where - piece.lines.data();
    return PlacedFailure{piece.begin + at, std::move(failure.what), failure.is_open};
  }
}

ParsedFile ParseInParallel(const TextSource& text, std::size_t begin, const std::string& source,
                           const ParseSettings& settings, const ChunkParser& parse) {
  const std::size_t chunk_bytes = std::max<std::size_t>(settings.chunk_bytes, 1);
  const std::size_t count = (text.size() - begin + chunk_bytes - 1) / chunk_bytes;
  std::vector<ParsedRows> chunks(count);
  std::vector<std::optional<PlacedFailure>> failures(count);
  RowBudget budget(settings, source);
  // Pieces start in order. When one fails, all pieces before it have started, and those after it no
  // longer matter.
  std::atomic<bool> failed = false;
  ParallelFor(static_cast<std::int64_t>(count), settings.threads, [&](std::int64_t index) {
    if (failed) return;
    const std::size_t i = index;
    const std::size_t from = begin + i * chunk_bytes;
    Bytes window;
    const Piece piece =
        ReadPiece(text, begin, from, std::min(from + chunk_bytes, text.size()), window);
    failures[i] = ParsePiece(piece, parse, chunks[i]);
    if (failures[i]) failed = true;
    budget.Add(chunks[i]);
  });
  for (std::optional<PlacedFailure>& failure : failures) {
    if (failure) throw std::move(*failure);
  }
  return ParsedFile(std::move(chunks));
}

// Each piece begins where the one before it ended, and a record that goes on behind its piece is
// read again with more of the text.
ParsedFile ParseInTurn(const TextSource& text, std::size_t begin, const std::string& source,
                       const ParseSettings& settings, const ChunkParser& parse) {
  constexpr std::size_t kLongestRecord = std::size_t{64} << 20;
  std::vector<ParsedRows> chunks;
  RowBudget budget(settings, source);
  std::size_t wanted = settings.chunk_bytes;
  while (begin < text.size()) {
    Bytes window;
    const Piece piece =
        ReadPiece(text, begin, begin, std::min(begin + wanted, text.size()), window);
    ParsedRows rows;
    auto failure = ParsePiece(piece, parse, rows);
    const bool has_more = begin + piece.lines.size() < text.size();
    if (failure && failure->is_open && has_more && piece.lines.size() < kLongestRecord) {
      wanted = 2 * piece.lines.size();
      continue;
    }
    if (failure) throw std::move(*failure);
    budget.Add(rows);
    chunks.push_back(std::move(rows));
    begin += piece.lines.size();
    wanted = settings.chunk_bytes;
  }
  return ParsedFile(std::move(chunks));
}

}  // namespace

void ParsedRows::EndRow(Order order) {
  const std::size_t begin = BeginOfRow(ends, rows());
  if (order == Order::kDisordered) SortLastRow(begin);
  ends.push_back(static_cast<std::int64_t>(columns.size()));
  label_ends.push_back(static_cast<std::int64_t>(labels.size()));
  if (!cells.empty()) {
    cell_ends.resize(ends.size() - 1, cell_ends.empty() ? 0 : cell_ends.back());
    cell_ends.push_back(static_cast<std::int64_t>(cells.size()));
  }
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

std::span<const Cell> ParsedRow::cells() const {
  if (chunk->cell_ends.empty()) return {};
  const std::size_t begin = BeginOfRow(chunk->cell_ends, index);
  return std::span(chunk->cells).subspan(begin, EndOfRow(chunk->cell_ends, index) - begin);
}

std::int64_t ParsedRow::label_count() const {
  return static_cast<std::int64_t>(EndOfRow(chunk->label_ends, index) -
                                   BeginOfRow(chunk->label_ends, index));
}

WrittenLabel ParsedRow::label(std::int64_t i) const {
  const std::size_t at = BeginOfRow(chunk->label_ends, index) + i;
  WrittenLabel label{.number = chunk->labels[at], .word = {}};
  if (!chunk->label_words.empty() && chunk->label_words[at] >= 0) {
    label.word = chunk->words[chunk->label_words[at]];
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

bool ParsedFile::has_older_text() const {
  return std::any_of(chunks_.begin(), chunks_.end(),
                     [](const ParsedRows& chunk) { return chunk.has_older_text; });
}

ParsedRow ParsedFile::row(std::int64_t index) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), index);
  const std::size_t chunk = after - starts_.begin() - 1;
  return {.chunk = &chunks_[chunk], .index = index - starts_[chunk]};
}

std::size_t ParsedRows::bytes() const {
  std::size_t text = 0;
  for (const std::string& word : words) text += word.size() + sizeof(std::string);
  for (const auto& [column, own] : column_words) {
    for (const std::string& word : own) text += word.size() + sizeof(std::string);
  }
  text += cell_ends.size() * sizeof(std::int64_t) + cells.size() * sizeof(Cell);
  return text + (ends.size() + label_ends.size() + labels.size()) * sizeof(std::int64_t) +
         (columns.size() + values.size() + label_words.size()) * sizeof(std::int32_t);
}

void RowBudget::Add(const ParsedRows& rows) {
  const std::size_t used = used_ += rows.bytes();
  if (used <= most_) return;
  throw UserError(
      fmt::format("{}: its rows take more than {} MB, the limit for one data set; raise it with "
                  "--memory-limit, or use part of the file",
                  source_, most_ >> 20));
}

ParsedFile ParseInChunks(const TextSource& text, std::size_t begin, const std::string& source,
                         const ParseSettings& settings, const ChunkParser& parse) {
  try {
    return ParseInParallel(text, begin, source, settings, parse);
  } catch (const PlacedFailure& failure) {
    if (!failure.is_open) throw;
  }
  return ParseInTurn(text, begin, source, settings, parse);
}

void ThrowAt(std::string_view source, const TextSource& text, std::size_t at,
             std::string_view what) {
  constexpr std::size_t kWindow = std::size_t{1} << 20;
  const TextOrigin origin = text.OriginOf(at, source);
  std::size_t line = origin.first_line;
  std::size_t line_begin = origin.begin;
  Bytes window;
  for (std::size_t begin = origin.begin; begin < at; begin += kWindow) {
    const std::string_view bytes = text.Read(begin, std::min(kWindow, at - begin), window);
    line += std::ranges::count(bytes, '\n');
    const std::size_t newline = bytes.rfind('\n');
    if (newline != std::string_view::npos) line_begin = begin + newline + 1;
  }
  if (!origin.has_columns) {
    throw UserError(fmt::format("{}:{}: {}", origin.source, line, what));
  }
  throw UserError(fmt::format("{}:{}:{}: {}", origin.source, line, at - line_begin + 1, what));
}

void ThrowAt(std::string_view source, std::string_view head, const char* where,
             std::string_view what) {
  const std::string_view before = head.substr(0, where - head.data());
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  throw UserError(fmt::format("{}:{}:{}: {}", source, line, before.size() - begin + 1, what));
}

}  // namespace hogbatch
