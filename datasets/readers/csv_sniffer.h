// A look at the first lines of a table: what separates its fields, and whether they have names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/readers/csv_fields.h"

namespace hogbatch {

inline constexpr std::size_t kMostCsvColumns = std::size_t{1} << 20;

// Whether delimiter and header must be found. kHeaderAndCommas is what other formats are turned
// into.
enum class CsvForm : std::uint8_t { kUnknown, kHeaderAndCommas };

struct CsvSample {
  CsvForm form = CsvForm::kUnknown;
  char delimiter = ',';
  bool has_comments = false;
  std::vector<CsvRecord> records;  // the first ones, without blank lines and comments
};

// `text` is the beginning of a file and must outlive the result.
CsvSample SampleCsv(std::string_view text, CsvForm form = CsvForm::kUnknown);

// Whether the first record is a header: its fields are words over columns of numbers. Words over
// words may be data; they are names if none of them occurs again below. A word over the numbers of
// column `label` is a name, whatever the other columns are called; -1: no column is known to be the
// label.
bool HasHeader(const CsvSample& sample, std::int64_t label);

}  // namespace hogbatch
