// The fields of CSV text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hogbatch {

// Between fields that runs of spaces and tabs separate.
inline constexpr char kBlanks = ' ';

// Skips blanks before a field; a tab that separates fields is none.
inline const char* SkipBlanks(const char* at, const char* end, char delimiter) {
  while (at != end && (*at == ' ' || *at == '\r' || (*at == '\t' && delimiter != '\t'))) ++at;
  return at;
}

struct CsvField {
  std::string_view text;    // trimmed, and without the quotation marks around it
  const char* end;          // the delimiter or line end behind it, or the end of the text
  bool is_escaped = false;  // `text` has quotation marks that are written twice
  bool is_open = false;     // the text ends before its quotation mark is closed
};

// The field that begins at `at`. A field in quotation marks may have delimiters and line ends.
CsvField ReadCsvField(const char* at, const char* end, char delimiter);

// Its text as it was meant: "" becomes ".
std::string Unescaped(const CsvField& field);

// Where the next record begins: behind the line end after `at`, which is at the end of a field.
const char* SkipLineEnd(const char* at, const char* end);

// One record (line) of a table and where it lies.
struct CsvRecord {
  std::vector<std::string> fields;
  std::vector<const char*> places;  // of each field
  const char* begin;
  const char* end;  // behind its line end
};

// Whether a line is blank, at `at` where a line begins.
bool IsBlankLine(const char* at, const char* end);

// The record at `at`; the text must not end there. At most `most` fields are kept.
CsvRecord ReadCsvRecord(const char* at, const char* end, char delimiter, std::size_t most);

}  // namespace hogbatch
