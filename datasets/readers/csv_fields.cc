#include "datasets/readers/csv_fields.h"

#include <cstring>

#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

bool EndsField(char c, char delimiter) {
  return c == delimiter || c == '\n' || (delimiter == kBlanks && c == '\t');
}

std::string_view Trimmed(const char* begin, const char* end) {
  while (begin != end && IsBlank(*begin)) ++begin;
  while (begin != end && IsBlank(end[-1])) --end;
  return {begin, end};
}

// `at` is behind the opening quotation mark.
CsvField ReadQuoted(const char* at, const char* end, char delimiter) {
  CsvField field{.text = {}, .end = end};
  const char* const begin = at;
  while (true) {
    const void* const mark = at == end ? nullptr : std::memchr(at, '"', end - at);
    if (mark == nullptr) {
      field.text = {begin, end};
      field.is_open = true;
      return field;
    }
    at = static_cast<const char*>(mark) + 1;
    if (at == end || *at != '"') break;
    field.is_escaped = true;
    ++at;
  }
  field.text = {begin, at - 1};
  while (at != end && !EndsField(*at, delimiter)) ++at;
  field.end = at;
  return field;
}

}  // namespace

CsvField ReadCsvField(const char* at, const char* end, char delimiter) {
  at = SkipBlanks(at, end, delimiter);
  if (at != end && *at == '"') return ReadQuoted(at + 1, end, delimiter);
  const char* const begin = at;
  while (at != end && !EndsField(*at, delimiter)) ++at;
  return {.text = Trimmed(begin, at), .end = at};
}

std::string Unescaped(const CsvField& field) {
  if (!field.is_escaped) return std::string(field.text);
  std::string text;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.text[i] == '"') ++i;  // the second of two
  }
  return text;
}

const char* SkipLineEnd(const char* at, const char* end) { return at == end ? at : at + 1; }

bool IsBlankLine(const char* at, const char* end) {
  while (at != end && IsBlank(*at)) ++at;
  return at == end || *at == '\n';
}

CsvRecord ReadCsvRecord(const char* at, const char* end, char delimiter, std::size_t most) {
  CsvRecord record{.fields = {}, .places = {}, .begin = at, .end = end};
  while (true) {
    const CsvField field = ReadCsvField(at, end, delimiter);
    const bool is_padding =
        delimiter == kBlanks && field.text.empty() && (field.end == end || *field.end == '\n');
    if (record.fields.size() < most && !is_padding) {
      record.fields.push_back(Unescaped(field));
      record.places.push_back(SkipBlanks(at, end, delimiter));
    }
    if (field.end == end || *field.end == '\n') {
      record.end = SkipLineEnd(field.end, end);
      return record;
    }
    at = field.end + 1;
  }
}

}  // namespace hogbatch
