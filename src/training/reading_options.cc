#include "training/reading_options.h"

#include <fmt/format.h>

#include <array>

#include "core/text.h"
#include "core/words.h"
#include "datasets/schema.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<bool>, 2> kFills{{{"refuse", false}, {"fill", true}}};

}  // namespace

void ReadingOptions::VisitFormat(OptionVisitor& v) {
  v.Word("format", format, FormatWords(),
         "Format of the data: csv for tables, jsonl for JSON lines (one object per line). auto "
         "finds it by the content");
}

void ReadingOptions::VisitLabels(OptionVisitor& v) {
  v.Text("labels", labels, "FILE",
         "File with the labels of an IDX file; if not given, the file named like DATA with "
         "\"labels\" in place of \"images\"");
}

void ReadingOptions::VisitMissingColumns(OptionVisitor& v, std::string_view files) {
  v.Word("missing-columns", missing_columns, WordsOf(kFills),
         fmt::format("{}: refuse the file, or fill them like missing cells", files));
}

void ReadingOptions::VisitMemoryLimit(OptionVisitor& v) {
  v.Word("memory-limit", memory_limit, {{"auto"}, "SIZE"},
         "The most memory that one data set may take, in bytes or with a unit: 500M, 16G. auto is "
         "half of the memory that this process may use, as limited by its control group (cgroup)");
}

std::int64_t ReadingOptions::memory_bytes() const {
  return memory_limit == "auto" ? 0 : ParseBytes("--memory-limit", memory_limit);
}

ReadOptions ReadingOptions::Parse() const {
  return {.format = ParseWrittenFormat(format),
          .labels = labels,
          .fills_columns = ParseWord("--missing-columns", missing_columns, kFills),
          .memory_bytes = memory_bytes()};
}

}  // namespace hogbatch
