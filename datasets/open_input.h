// Opens what a data set is read from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/readers/csv_sniffer.h"
#include "datasets/schema.h"
#include "datasets/text/text_source.h"

namespace hogbatch {

struct TextInput {
  std::unique_ptr<TextSource> text;         // freed as soon as the rows are parsed
  std::string source;                       // names it in errors
  std::unique_ptr<TextSource> labels = {};  // of an IDX file; null: it has none
  std::string label_source = {};
  std::vector<std::string> categorical = {};  // columns whose numbers are codes, by number from 1
  CsvForm form = CsvForm::kUnknown;
  std::optional<FileFormat> format = {};  // if --format says it
};

// Files (see InputFiles), or with an empty text the data set that ships with the program.
TextInput OpenInput(const std::string& data, const ReadOptions& options, Labels labels);

// `bytes`, plain or compressed, must outlive the result. `memory_bytes`: see MemoryBudget.
TextInput InputFromBytes(std::string_view bytes, const std::string& source,
                         std::int64_t memory_bytes = 0);
// An IDX file and the one with its labels, "SOURCE labels" in errors.
TextInput InputFromBytes(std::string_view bytes, std::string_view labels,
                         const std::string& source);

// Whether a text is JSON lines, by --format or by its beginning.
bool AreJsonLines(WrittenFormat format, std::string_view head);

// As --format says, or by its first bytes. UserError if it is none that can be read.
FileFormat FormatOf(const TextInput& input);

}  // namespace hogbatch
