#include "datasets/readers/idx_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/ids.h"
#include "datasets/parallel.h"
#include "datasets/text/unpack.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMagicBytes = 4;

[[noreturn]] void ThrowAtByte(std::string_view source, std::size_t byte, std::string_view what) {
  throw UserError(fmt::format("{}: byte {}: {}", source, byte, what));
}

std::size_t SizeOf(IdxArray::Type type) {
  switch (type) {
    case IdxArray::Type::kUnsignedByte:
    case IdxArray::Type::kByte:
      return 1;
    case IdxArray::Type::kShort:
      return 2;
    case IdxArray::Type::kInt:
    case IdxArray::Type::kFloat:
      return 4;
    case IdxArray::Type::kDouble:
      break;
  }
  return 8;
}

bool IsType(unsigned char byte) {
  return byte == 0x08 || byte == 0x09 || (byte >= 0x0b && byte <= 0x0e);
}

// An unsigned number of `size` bytes, the highest first.
std::uint64_t BigEndian(const char* at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

double NumberAt(const char* at, IdxArray::Type type) {
  const std::uint64_t bits = BigEndian(at, SizeOf(type));
  switch (type) {
    case IdxArray::Type::kUnsignedByte:
      return static_cast<double>(bits);
    case IdxArray::Type::kByte:
      return static_cast<std::int8_t>(bits);
    case IdxArray::Type::kShort:
      return static_cast<std::int16_t>(bits);
    case IdxArray::Type::kInt:
      return static_cast<std::int32_t>(bits);
    case IdxArray::Type::kFloat:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case IdxArray::Type::kDouble:
      break;
  }
  return std::bit_cast<double>(bits);
}

// The sizes as they are written.
std::vector<std::int64_t> ReadSizes(std::string_view bytes, const std::string& source) {
  const auto dimensions = static_cast<std::size_t>(static_cast<unsigned char>(bytes[3]));
  if (bytes.size() < kMagicBytes * (1 + dimensions)) {
    ThrowAtByte(source, bytes.size(),
                fmt::format("the IDX file ends within its header, which has {} sizes; download or "
                            "copy it again",
                            dimensions));
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 1; i <= dimensions; ++i) {
    sizes.push_back(static_cast<std::int64_t>(BigEndian(bytes.data() + kMagicBytes * i, 4)));
  }
  return sizes;
}

// The columns of a row; each of the sizes is checked before it is multiplied.
std::int64_t CountColumns(const std::vector<std::int64_t>& sizes, const std::string& source) {
  std::int64_t columns = 1;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i] == 0 || sizes[i] > std::numeric_limits<std::int32_t>::max() / columns) {
      ThrowAtByte(source, kMagicBytes * (1 + i),
                  fmt::format("size {} of the IDX file is {}; a row has 1 to 2^31 - 1 numbers",
                              i + 1, sizes[i]));
    }
    columns *= sizes[i];
  }
  return columns;
}

void CheckLength(const IdxArray& array, std::size_t bytes) {
  // Rows have less than 2^32 and their numbers less than 2^34 bytes, so compare by division.
  const std::size_t row = array.columns * SizeOf(array.type);
  const std::size_t there = bytes - array.begin;
  const auto rows = static_cast<std::size_t>(array.rows);
  if (there / row < rows) {
    ThrowAtByte(array.source, bytes,
                fmt::format("the IDX file ends after {} of {} rows; download or copy it again",
                            there / row, rows));
  }
  if (there > rows * row) {
    ThrowAtByte(array.source, array.begin + rows * row,
                fmt::format("{} bytes follow the {} rows of the header; the IDX file is damaged",
                            there - rows * row, rows));
  }
}

std::string_view ReadLabels(const IdxArray& labels, RowRange range, Bytes& window) {
  const std::size_t size = SizeOf(labels.type);
  return labels.file->Read(labels.begin + range.begin * size, range.size() * size, window);
}

// Reads the rows of one chunk.
void ParseChunk(const IdxArray& rows, const std::optional<IdxArray>& labels, RowRange range,
                ParsedRows& out) {
  const std::size_t size = SizeOf(rows.type);
  const auto columns = static_cast<std::size_t>(rows.columns);
  constexpr double kLargest = std::numeric_limits<float>::max();
  out.file_columns = rows.columns;
  Bytes window, label_window;
  const std::size_t begin = rows.begin + range.begin * columns * size;
  const std::string_view numbers = rows.file->Read(begin, range.size() * columns * size, window);
  const std::string_view label_numbers =
      labels ? ReadLabels(*labels, range, label_window) : std::string_view();
  const char* at = numbers.data();
  for (std::int64_t row = range.begin; row < range.end; ++row) {
    for (std::size_t column = 0; column < columns; ++column, at += size) {
      const double value = NumberAt(at, rows.type);
      if (!(std::abs(value) <= kLargest)) {
        ThrowAtByte(rows.source, begin + (at - numbers.data()),
                    "the number is not finite, or too large for a 32-bit float; correct it");
      }
      out.Add(static_cast<std::int32_t>(column), static_cast<float>(value));
    }
    if (labels) {
      const std::size_t label = (row - range.begin) * SizeOf(labels->type);
      const double number = NumberAt(label_numbers.data() + label, labels->type);
      if (!std::isfinite(number)) ThrowAtIdxLabel(*labels, row, "the label is not finite");
      out.labels.push_back(number + 0.0);  // -0 becomes 0
    }
    out.EndRow(ParsedRows::Order::kAscending);
  }
}

void CheckLabels(const IdxArray& rows, const IdxArray& labels) {
  if (labels.columns != 1) {
    throw UserError(
        fmt::format("{}: holds {} numbers a row and not one label; name the file with the labels "
                    "of {} with --labels",
                    labels.source, labels.columns, rows.source));
  }
  if (labels.rows != rows.rows) {
    throw UserError(
        fmt::format("{}: holds {} labels, but {} has {} rows; name the file with its labels with "
                    "--labels",
                    labels.source, labels.rows, rows.source, rows.rows));
  }
}

}  // namespace

bool IsIdx(std::string_view bytes) {
  return bytes.size() >= kMagicBytes && bytes[0] == 0 && bytes[1] == 0 &&
         IsType(static_cast<unsigned char>(bytes[2])) && bytes[3] != 0;
}

IdxArray OpenIdx(const TextSource& file, const std::string& source) {
  constexpr std::size_t kLongestHeader = kMagicBytes * (1 + 255);
  Bytes window;
  const std::string_view bytes = file.Read(0, kLongestHeader, window);
  if (!IsIdx(bytes)) {
    ThrowAtByte(source, 0,
                "this is no IDX file, which begins with two zeros, a type and a number of "
                "dimensions");
  }
  const std::vector<std::int64_t> sizes = ReadSizes(bytes, source);
  IdxArray array{.source = source,
                 .type = static_cast<IdxArray::Type>(bytes[2]),
                 .dimensions = static_cast<int>(sizes.size()),
                 .rows = sizes.front(),
                 .columns = CountColumns(sizes, source),
                 .begin = kMagicBytes * (1 + sizes.size()),
                 .file = &file};
  if (array.rows == 0) {
    throw UserError(fmt::format("{}: the file has no rows; use one with rows of data", source));
  }
  if (array.rows > std::numeric_limits<std::int32_t>::max()) {
    throw UserError(fmt::format("{}: the file has more than 2^31 rows; use part of it", source));
  }
  CheckLength(array, file.size());
  return array;
}

IdxLabelFile FindIdxLabels(const std::string& images) {
  const std::filesystem::path path(images);
  std::string name = path.filename().string();
  name.resize(name.size() - PackedEnding(name).size());
  const std::size_t word = name.rfind("images");
  if (word == std::string::npos) return {};
  name.replace(word, 6, "labels");
  const std::size_t dimensions = name.rfind("idx");
  if (dimensions != std::string::npos && dimensions + 3 < name.size()) name[dimensions + 3] = '1';
  IdxLabelFile result{.expected = (path.parent_path() / name).string(), .found = {}};
  if (std::filesystem::exists(result.expected)) {
    result.found = result.expected;
    return result;
  }
  for (const std::string_view ending : kPackedEndings) {
    const std::string packed = fmt::format("{}{}", result.expected, ending);
    if (!std::filesystem::exists(packed)) continue;
    result.found = packed;
    break;
  }
  return result;
}

ParsedFile ParseIdx(const IdxArray& rows, const std::optional<IdxArray>& labels,
                    const ParseSettings& settings) {
  if (rows.dimensions == 1) {
    throw UserError(
        fmt::format("{}: holds one number a row, as a file of labels does; name the file of images",
                    rows.source));
  }
  if (labels) CheckLabels(rows, *labels);
  const std::size_t row_bytes = rows.columns * SizeOf(rows.type);
  const auto rows_a_part =
      static_cast<std::int64_t>(std::max<std::size_t>(1, settings.chunk_bytes / row_bytes));
  const std::int64_t parts = (rows.rows + rows_a_part - 1) / rows_a_part;
  std::vector<ParsedRows> chunks(parts);
  RowBudget budget(settings, rows.source);
  ParallelFor(parts, settings.threads, [&](std::int64_t part) {
    ParsedRows& chunk = chunks[part];
    ParseChunk(rows, labels, Part({0, rows.rows}, part, parts), chunk);
    budget.Add(chunk);
  });
  return ParsedFile(std::move(chunks));
}

void ThrowAtIdxLabel(const IdxArray& labels, std::int64_t row, std::string_view what) {
  ThrowAtByte(labels.source, labels.begin + row * SizeOf(labels.type), what);
}

}  // namespace hogbatch
