#include "datasets/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "datasets/readers/csv_layout.h"
#include "datasets/readers/format.h"
#include "datasets/readers/idx_reader.h"
#include "datasets/text/descriptor.h"
#include "datasets/text/joined_text.h"
#include "datasets/text/json_lines.h"

namespace hogbatch {
namespace {

std::vector<std::string> Matches(const std::string& pattern) {
  std::error_code error;
  // A file may have such letters in its name.
  if (pattern.find_first_of("*?[") == std::string::npos ||
      std::filesystem::exists(pattern, error)) {
    return {pattern};
  }
  glob_t found{};
  const auto free_found = [](glob_t* list) { globfree(list); };
  const int result = glob(pattern.c_str(), 0, nullptr, &found);
  const std::unique_ptr<glob_t, decltype(free_found)> owner(&found, free_found);
  if (result == GLOB_NOSPACE) throw std::bad_alloc();
  if (result != 0 && pattern.find_first_of("*?") == std::string::npos) return {pattern};
  if (result != 0) {
    throw UserError(fmt::format("{}: no file has a name like this; check the pattern", pattern));
  }
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

std::string_view HeadOf(const TextSource& text, Bytes& window) {
  constexpr std::size_t kHead = std::size_t{1} << 20;
  std::string_view head = text.Read(0, kHead, window);
  if (head.size() == kHead) head = head.substr(0, head.rfind('\n'));
  return head;
}

bool IsTable(const TextPart& part) {
  Bytes window;
  const std::string_view head = HeadOf(*part.text, window);
  if (IsIdx(head)) {
    throw UserError(fmt::format(
        "{}: an IDX file cannot be one of several; train on one, or convert them", part.source));
  }
  return !BeginsAsJson(head) && DetectFormat(head) == FileFormat::kCsv;
}

// The header of a table, with its line end; empty: it has none.
std::string HeaderOf(const TextPart& part, const std::string& label) {
  Bytes window;
  const std::string_view head = ReadCsvHead(*part.text, part.source, window);
  const CsvLayout layout = FindCsvLayout(head, part.source, label);
  return std::string(head.substr(0, layout.names.empty() ? 0 : layout.rows_at));
}

// Leaves out the header of every part but the first.
void SkipHeaders(std::vector<TextPart>& parts, const std::string& label) {
  const std::string header = HeaderOf(parts.front(), label);
  if (header.empty()) return;
  for (TextPart& part : std::span(parts).subspan(1)) {
    Bytes window;
    if (part.text->Read(0, header.size(), window) != header) {
      throw UserError(
          fmt::format("{}: does not begin with the header of {}; give all files the same header",
                      part.source, parts.front().source));
    }
    part.skip_bytes = header.size();
    part.skip_lines = std::ranges::count(header, '\n');
  }
}

}  // namespace

std::vector<std::string> InputFiles(std::string_view data) {
  std::vector<std::string> files;
  for (const std::string& line : SplitLines(data)) {
    std::ranges::move(Matches(line), std::back_inserter(files));
  }
  return files;
}

std::string JoinFiles(const std::vector<std::string>& files) {
  return fmt::format("{}", fmt::join(files, "\n"));
}

std::string NameOfFiles(const std::vector<std::string>& files) {
  const std::string first = SourceName(files.front());
  return files.size() == 1 ? first : fmt::format("{} and {} more", first, files.size() - 1);
}

std::unique_ptr<TextSource> OpenFiles(const std::vector<std::string>& files,
                                      const std::string& label, std::size_t max_bytes) {
  if (files.size() == 1) return OpenText(files.front(), max_bytes);
  std::vector<TextPart> parts;
  for (const std::string& file : files) {
    parts.push_back({.text = OpenText(file, max_bytes), .source = SourceName(file)});
    max_bytes -= std::min(max_bytes, parts.back().text->held_bytes());
  }
  const bool is_table = IsTable(parts.front());
  for (const TextPart& part : parts) {
    if (IsTable(part) == is_table) continue;
    throw UserError(fmt::format("{} and {} have different formats; convert one of them",
                                parts.front().source, part.source));
  }
  if (is_table) SkipHeaders(parts, label);
  return std::make_unique<JoinedText>(std::move(parts));
}

}  // namespace hogbatch
