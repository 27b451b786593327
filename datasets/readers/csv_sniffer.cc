#include "datasets/readers/csv_sniffer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "datasets/readers/missing.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/written_number.h"

namespace hogbatch {
namespace {

constexpr std::size_t kLines = 100;
constexpr std::array kDelimiters = {',', ';', '\t', '|', kBlanks};

// Where the lines begin that are not blank.
std::vector<const char*> LineBegins(std::string_view text, std::size_t most) {
  std::vector<const char*> begins;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end && begins.size() < most;) {
    if (!IsBlankLine(at, end)) begins.push_back(at);
    const std::size_t newline = text.find('\n', at - text.data());
    at = newline == std::string_view::npos ? end : text.data() + newline + 1;
  }
  return begins;
}

bool IsComment(const char* line) { return *line == '#'; }

// The delimiter that a first line such as "sep=;" names, as Excel writes it; none: it is no such
// line.
std::optional<char> NamedDelimiter(const char* line, const char* end) {
  std::string text(line, std::find(line, end, '\n'));
  std::erase_if(text, [](char c) { return c == '"' || c == '\r'; });
  constexpr std::string_view kName = "sep=";
  if (text.size() != kName.size() + 1 || !text.starts_with(kName)) return std::nullopt;
  return text.back();
}

// How well a delimiter explains the lines: rows in a row that have as many fields as the first.
struct Fit {
  std::size_t columns = 0;
  std::size_t alike = 0;  // records with that many
  std::size_t records = 0;

  double share() const {
    return static_cast<double>(alike) / static_cast<double>(std::max<std::size_t>(records, 1));
  }
};

Fit FitOf(std::string_view text, char delimiter, const char* first) {
  Fit fit;
  const char* const end = text.data() + text.size();
  for (const char* at = first; at != end && fit.records < kLines;) {
    const CsvRecord record = ReadCsvRecord(at, end, delimiter, kMostCsvColumns + 1);
    at = record.end;
    if (IsBlankLine(record.begin, end)) continue;
    if (fit.records == 0) fit.columns = record.fields.size();
    ++fit.records;
    if (record.fields.size() == fit.columns) ++fit.alike;
  }
  return fit;
}

char FindDelimiter(std::string_view text, const char* first) {
  char best = ',';
  Fit best_fit;
  for (const char delimiter : kDelimiters) {
    const Fit fit = FitOf(text, delimiter, first);
    if (fit.columns < 2) continue;
    const bool is_first = best_fit.columns < 2;
    // Blanks are in many texts; they separate fields only where nothing else does.
    if (!is_first && delimiter == kBlanks) break;
    const bool better = fit.share() > best_fit.share() + 0.1 ||
                        (fit.share() > best_fit.share() - 0.1 && fit.columns > best_fit.columns);
    if (!is_first && !better) continue;
    best = delimiter;
    best_fit = fit;
  }
  return best;
}

// What the columns of the sample say about the first line.
struct Votes {
  int for_header = 0;
  int against = 0;
  bool label_is_named = false;
};

bool IsNumber(const std::string& field) {
  return LooksNumeric(field) || ParseWrittenNumber(field, NumberStyle::kPoint) ||
         ParseWrittenNumber(field, NumberStyle::kComma);
}

void Vote(const CsvSample& sample, std::size_t column, bool is_label, Votes& votes) {
  const std::string& first = sample.records.front().fields[column];
  std::size_t numbers = 0, words = 0;
  for (std::size_t i = 1; i < sample.records.size(); ++i) {
    const auto& fields = sample.records[i].fields;
    if (column >= fields.size() || IsMissing(fields[column])) continue;
    ++(IsNumber(fields[column]) ? numbers : words);
  }
  const bool is_name = !IsMissing(first) && !IsNumber(first);
  if (numbers > 4 * words) {
    // An empty name, as of the row numbers that other programs write, says nothing.
    if (is_name) ++votes.for_header;
    if (is_name && is_label && words == 0) votes.label_is_named = true;
    if (IsNumber(first)) ++votes.against;
  } else if (words > 0 && IsNumber(first)) {
    ++votes.against;
  }
}

bool IsUnlikeTheRest(const CsvSample& sample) {
  const std::vector<std::string>& names = sample.records.front().fields;
  std::set<std::string> all(names.begin(), names.end());
  if (all.size() != names.size() || std::ranges::any_of(names, IsMissing)) return false;
  bool repeats = false;  // a column with categories, so that a name would have been seen again
  for (std::size_t column = 0; column < names.size(); ++column) {
    std::multiset<std::string> below;
    for (std::size_t i = 1; i < sample.records.size(); ++i) {
      const auto& fields = sample.records[i].fields;
      if (column < fields.size()) below.insert(fields[column]);
    }
    if (below.contains(names[column])) return false;
    const std::set<std::string> different(below.begin(), below.end());
    if (2 * different.size() <= below.size()) repeats = true;
  }
  return repeats;
}

}  // namespace

CsvSample SampleCsv(std::string_view text, CsvForm form) {
  CsvSample sample{.form = form, .records = {}};
  const char* const end = text.data() + text.size();
  const std::vector<const char*> lines = LineBegins(text, kLines);
  auto table = std::ranges::find_if_not(lines, IsComment);
  const bool is_known = form == CsvForm::kHeaderAndCommas;
  const auto named = table == lines.end() || is_known ? std::nullopt : NamedDelimiter(*table, end);
  if (named) ++table;
  sample.has_comments = !is_known && std::ranges::any_of(lines, IsComment);
  if (table == lines.end()) return sample;
  if (!is_known) sample.delimiter = named ? *named : FindDelimiter(text, *table);
  for (const char* at = *table; at != end && sample.records.size() < kLines;) {
    CsvRecord record = ReadCsvRecord(at, end, sample.delimiter, kMostCsvColumns + 1);
    at = record.end;
    if (IsBlankLine(record.begin, end) || (sample.has_comments && IsComment(record.begin)))
      continue;
    sample.records.push_back(std::move(record));
  }
  return sample;
}

bool HasHeader(const CsvSample& sample, std::int64_t label) {
  if (sample.form == CsvForm::kHeaderAndCommas) return true;
  Votes votes;
  const std::vector<std::string>& first = sample.records.front().fields;
  for (std::size_t column = 0; column < first.size(); ++column) {
    Vote(sample, column, static_cast<std::int64_t>(column) == label, votes);
  }
  if (votes.label_is_named) return true;
  if (sample.records.size() == 1) return std::ranges::none_of(first, IsNumber);
  if (votes.for_header != 0 || votes.against != 0) return votes.for_header > votes.against;
  return IsUnlikeTheRest(sample);
}

}  // namespace hogbatch
