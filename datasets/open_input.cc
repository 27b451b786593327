#include "datasets/open_input.h"

#include <fmt/format.h>

#include "core/error.h"
#include "datasets/builtin.h"
#include "datasets/readers/format.h"
#include "datasets/readers/idx_reader.h"

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

}  // namespace

TextInput OpenInput(const std::string& path, const ReadOptions& options, Labels labels) {
  if (path.empty()) {
    TextInput input = InputFromBytes(PackedBuiltin(), std::string(kBuiltinSource));
    input.categorical = BuiltinCategories();
    return input;
  }
  const std::size_t budget = MemoryBudget(options.memory_bytes);
  TextInput input{.text = OpenText(path, budget), .source = path};
  if (!BeginsAsIdx(input)) {
    if (options.labels.empty()) return input;
    throw UserError(
        fmt::format("{}: this is no IDX file and contains its labels; leave out --labels", path));
  }
  const bool has_rows = OpenIdx(*input.text, path).dimensions > 1;
  if (labels == Labels::kRequired && has_rows) {
    input.label_source = LabelFileOf(path, options.labels);
    input.labels = OpenText(input.label_source, budget);
  }
  return input;
}

FileFormat FormatOf(const TextInput& input) {
  constexpr std::size_t kLooked = 4096, kMostLooked = std::size_t{1} << 20;
  if (BeginsAsIdx(input)) return FileFormat::kIdx;
  Bytes window;
  std::string_view text = input.text->Read(0, kMostLooked, window);
  // A line that is cut may look like another format.
  if (text.size() == kMostLooked) text = text.substr(0, text.rfind('\n'));
  if (text.substr(0, kLooked).find('\0') != std::string_view::npos) {
    throw UserError(fmt::format("{}: contains binary data; use an IDX file, or LIBSVM or CSV text",
                                input.source));
  }
  return DetectFormat(text);
}

TextInput InputFromBytes(std::string_view bytes, const std::string& source) {
  return {.text = OpenBytes(bytes, source, MemoryBudget(0)), .source = source};
}

TextInput InputFromBytes(std::string_view bytes, std::string_view labels,
                         const std::string& source) {
  TextInput input = InputFromBytes(bytes, source);
  input.label_source = source + " labels";
  input.labels = OpenBytes(labels, input.label_source, MemoryBudget(0));
  return input;
}

}  // namespace hogbatch
