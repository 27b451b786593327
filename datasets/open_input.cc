#include "datasets/open_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "datasets/builtin.h"
#include "datasets/input_files.h"
#include "datasets/readers/format.h"
#include "datasets/readers/idx_reader.h"
#include "datasets/readers/numbers.h"
#include "datasets/readers/parsed_file.h"
#include "datasets/text/json_lines.h"

namespace hogbatch {
namespace {

// The file with the labels of an IDX file: the one that the user named, or by its name.
std::string LabelFileOf(const std::string& path, const std::string& named) {
  if (!named.empty()) return named;
  const IdxLabelFile labels = FindIdxLabels(path);
  if (labels.found) return *labels.found;
  throw UserError(fmt::format(
      "{}: the labels of an IDX file are in a file of their own{}; name it with --labels", path,
      labels.expected.empty() ? "" : fmt::format(", and {} is not there", labels.expected)));
}

bool BeginsAsIdx(const TextInput& input) {
  Bytes window;
  return IsIdx(input.text->Read(0, 4, window));
}

// Turns JSON lines into a table.
void SetFormat(WrittenFormat format, std::size_t budget, TextInput& input) {
  constexpr std::size_t kLooked = 4096;
  Bytes window;
  if (!AreJsonLines(format, input.text->Read(0, kLooked, window))) {
    input.format = FileFormatOf(format);
    return;
  }
  JsonColumns columns;
  input.text = TableOfJsonLines(*input.text, input.source, budget, columns);
  input.format = FileFormat::kCsv;
  input.form = CsvForm::kHeaderAndCommas;
}

}  // namespace

static TextInput OpenIdxInput(TextInput input, const std::string& path, const ReadOptions& options,
                              Labels labels) {
  const bool has_rows = OpenIdx(*input.text, input.source).dimensions > 1;
  if (labels == Labels::kRequired && has_rows) {
    input.label_source = LabelFileOf(path, options.labels);
    input.labels = OpenText(input.label_source, MemoryBudget(options.memory_bytes));
  }
  return input;
}

TextInput OpenInput(const std::string& data, const ReadOptions& options, Labels labels) {
  if (data.empty()) {
    TextInput input = InputFromBytes(PackedBuiltin(), std::string(kBuiltinSource));
    input.categorical = BuiltinCategories();
    return input;
  }
  const std::vector<std::string> files = InputFiles(data);
  const std::size_t budget = MemoryBudget(options.memory_bytes);
  TextInput input{.text = OpenFiles(files, options.label, budget), .source = NameOfFiles(files)};
  SetFormat(options.format, budget, input);
  const bool is_idx = input.format ? input.format == FileFormat::kIdx : BeginsAsIdx(input);
  if (is_idx) return OpenIdxInput(std::move(input), files.front(), options, labels);
  if (options.labels.empty()) return input;
  throw UserError(fmt::format("{}: this is no IDX file and contains its labels; leave out --labels",
                              input.source));
}

bool AreJsonLines(WrittenFormat format, std::string_view head) {
  return format == WrittenFormat::kJsonLines ||
         (format == WrittenFormat::kAuto && BeginsAsJson(head));
}

// Whether it is text with a line end, as the beginning of a program or a picture is not.
static bool IsLines(std::string_view text) {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
  };
  return text.find('\n') != std::string_view::npos && std::ranges::none_of(text, is_control);
}

FileFormat FormatOf(const TextInput& input) {
  constexpr std::size_t kLooked = 4096, kMostLooked = std::size_t{1} << 20;
  if (input.format) return *input.format;
  if (BeginsAsIdx(input)) return FileFormat::kIdx;
  Bytes window;
  std::string_view text = input.text->Read(0, kMostLooked, window);
  // A line that is cut may look like another format.
  if (text.size() == kMostLooked) text = text.substr(0, text.rfind('\n'));
  const std::size_t zero = text.substr(0, kLooked).find('\0');
  if (zero != std::string_view::npos) {
    if (IsLines(text.substr(0, zero))) ThrowAt(input.source, *input.text, zero, kZeroByte);
    throw UserError(fmt::format(
        "{}: contains binary data; use an IDX file, or CSV, LIBSVM or JSON lines", input.source));
  }
  return DetectFormat(text);
}

TextInput InputFromBytes(std::string_view bytes, const std::string& source,
                         std::int64_t memory_bytes) {
  const auto budget = MemoryBudget(memory_bytes);
  TextInput input{.text = OpenBytes(bytes, source, budget), .source = source};
  SetFormat(WrittenFormat::kAuto, budget, input);
  return input;
}

TextInput InputFromBytes(std::string_view bytes, std::string_view labels,
                         const std::string& source) {
  TextInput input = InputFromBytes(bytes, source);
  input.label_source = source + " labels";
  input.labels = OpenBytes(labels, input.label_source, MemoryBudget(0));
  return input;
}

}  // namespace hogbatch
