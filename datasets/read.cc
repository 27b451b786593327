#include "datasets/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/random.h"
#include "datasets/builtin.h"
#include "datasets/encoding/assembly.h"
#include "datasets/encoding/columns.h"
#include "datasets/encoding/labels.h"
#include "datasets/encoding/scaling.h"
#include "datasets/readers/csv_reader.h"
#include "datasets/readers/format.h"
#include "datasets/readers/idx_reader.h"
#include "datasets/readers/libsvm_reader.h"
#include "datasets/readers/numbers.h"

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

// Parsed rows, and what is needed to find the line of a row again.
struct ParsedText {
  FileFormat format;
  CsvLayout layout;  // of a CSV
  ParsedFile file;
  std::optional<IdxArray> labels = {};  // of an IDX file
  bool images = false;                  // rows of an IDX file that have more than one dimension
};

[[noreturn]] void ThrowAtLabel(const TextInput& input, const ParsedText& parsed,
                               const LabelProblem& problem) {
  if (parsed.labels) ThrowAtIdxLabel(*parsed.labels, problem.row, problem.what);
  if (parsed.format == FileFormat::kIdx) {
    throw UserError(fmt::format("{}: {}", input.source, problem.what));
  }
  const ParsedRow row = parsed.file.row(problem.row);
  const std::size_t begin = row.chunk->text_at;
  Bytes window;
  const std::string_view chunk = input.text->Read(begin, row.chunk->text_bytes, window);
  const char* where = parsed.format == FileFormat::kLibsvm
                          ? FindLibsvmLabel(chunk, row.index, problem.label)
                          : FindCsvLabel(chunk, parsed.layout, row.index);
  ThrowAt(input.source, *input.text, begin + static_cast<std::size_t>(where - chunk.data()),
          problem.what);
}

ParsedFile ParseText(const TextInput& input, std::size_t rows_at, const ParseSettings& settings,
                     const ChunkParser& parse) {
  try {
    ParsedFile file = ParseInChunks(*input.text, rows_at, input.source, settings, parse);
    if (file.rows() == 0) {
      throw UserError(
          fmt::format("{}: the file has no rows; use one with rows of data", input.source));
    }
    if (file.rows() > std::numeric_limits<std::int32_t>::max()) {
      throw UserError(
          fmt::format("{}: the file has more than 2^31 rows; use part of it", input.source));
    }
    return file;
  } catch (const PlacedFailure& failure) {
    ThrowAt(input.source, *input.text, failure.at, failure.what);
  }
}

ParsedText ParseLibsvmText(const TextInput& input, std::int64_t known_columns, Labels labels,
                           const ParseSettings& settings) {
  return {FileFormat::kLibsvm,
          {},
          ParseText(input, 0, settings, [=](std::string_view chunk, ParsedRows& out) {
            ParseLibsvm(chunk, known_columns, labels, out);
          })};
}

ParsedText ParseCsvText(const TextInput& input, CsvLayout layout,
                        const std::vector<CategoricalColumn>& categorical,
                        const ParseSettings& settings) {
  const std::vector<CsvColumn> columns = PlanColumns(layout, categorical);
  ParsedFile file =
      ParseText(input, layout.rows_at, settings, [&](std::string_view chunk, ParsedRows& out) {
        ParseCsv(chunk, layout.delimiter, columns, out);
      });
  return {FileFormat::kCsv, std::move(layout), std::move(file)};
}

ParsedText ParseIdxRows(const TextInput& input, const ParseSettings& settings) {
  const IdxArray rows = OpenIdx(*input.text, input.source);
  std::optional<IdxArray> labels;
  if (input.labels) labels = OpenIdx(*input.labels, input.label_source);
  ParsedFile file = ParseIdx(rows, labels, settings);
  return {FileFormat::kIdx, {}, std::move(file), std::move(labels), rows.dimensions > 2};
}

ParsedText LearnIdx(const TextInput& input, const ReadOptions& options,
                    const ParseSettings& settings, Schema& schema) {
  if (options.label != "auto") {
    throw UserError(
        fmt::format("{}: the labels of an IDX file are in a file of their own, which --labels "
                    "names; leave out --label {}",
                    input.source, options.label));
  }
  ParsedText parsed = ParseIdxRows(input, settings);
  schema.file_columns = parsed.file.file_columns();
  schema.features = schema.file_columns;
  return parsed;
}

ParsedText ParseToLearn(const TextInput& input, const ReadOptions& options,
                        const ParseSettings& settings, Schema& schema) {
  schema.format = FormatOf(input);
  if (schema.format == FileFormat::kIdx) return LearnIdx(input, options, settings, schema);
  if (schema.format == FileFormat::kLibsvm) {
    if (options.label != "auto" && options.label != "first") {
      throw UserError(
          fmt::format("{}: the label of a LIBSVM file comes first in its rows; leave out "
                      "--label {}",
                      input.source, options.label));
    }
    ParsedText parsed = ParseLibsvmText(input, kLargestIndex, Labels::kRequired, settings);
    LearnColumns(parsed.file, schema, settings.threads);
    return parsed;
  }
  Bytes window;
  CsvLayout layout =
      FindCsvLayout(ReadCsvHead(*input.text, input.source, window), input.source, options.label);
  if (!input.categorical.empty() && layout.label != layout.columns - 1) {
    throw UserError(fmt::format("{}: its label is its last column; leave out --label {}",
                                input.source, options.label));
  }
  schema.file_columns = layout.columns - 1;
  schema.categorical = input.categorical;
  schema.features = CountFeatures(schema.file_columns, schema.categorical);
  schema.label_column = options.label == "auto" ? "last" : options.label;
  if (!layout.names.empty()) {
    schema.column_names = layout.names;
    schema.column_names.erase(schema.column_names.begin() + layout.label);
    schema.label_name = layout.names[layout.label];
  }
  return ParseCsvText(input, std::move(layout), schema.categorical, settings);
}

std::int64_t CountTrainRows(std::int64_t rows, double valid_fraction) {
  if (valid_fraction <= 0 || rows < 2) return rows;
  const double valid = std::round(static_cast<double>(rows) * std::min(valid_fraction, 1.0));
  return rows - std::clamp<std::int64_t>(static_cast<std::int64_t>(valid), 1, rows - 1);
}

// All steps whose errors point into the text. Fills the labels and returns the parsed rows.
ParsedText ParseAndLabel(const TextInput& input, const ReadOptions& options,
                         const ParseSettings& settings, TrainingData& result,
                         std::vector<std::int64_t>& order) {
  ParsedText parsed = ParseToLearn(input, options, settings, result.schema);
  if (result.schema.features == 0) {
    throw UserError(
        fmt::format("{}: no row has a feature; use a file with index:value pairs", input.source));
  }
  order = Random(options.seed).Permutation(parsed.file.rows());
  result.train_rows = CountTrainRows(parsed.file.rows(), options.valid_fraction);
  try {
    LearnLabels(parsed.file, input.source, options.positive, result.schema);
  } catch (const LabelProblem& problem) {
    ThrowAtLabel(input, parsed, problem);
  }
  if (result.schema.label_kind == LabelKind::kValue) {
    LearnTargets(parsed.file, input.source, std::span(order).first(result.train_rows),
                 result.schema);
  }
  const auto problem = EncodeLabels(parsed.file, result.schema, order, result.data);
  if (problem) ThrowAtLabel(input, parsed, *problem);
  return parsed;
}

ParsedText ParseWithSchema(const TextInput& input, const Schema& schema, Labels labels,
                           const ParseSettings& settings) {
  const FileFormat format = FormatOf(input);
  if (format != schema.format) {
    throw UserError(
        fmt::format("{}: this is a {} file, but the model was trained on {}; convert it",
                    input.source, Title(format), Title(schema.format)));
  }
  if (format == FileFormat::kIdx) {
    ParsedText parsed = ParseIdxRows(input, settings);
    if (parsed.file.file_columns() == schema.file_columns) return parsed;
    throw UserError(
        fmt::format("{}: its rows have {} numbers, but the model was trained on rows of {}; use a "
                    "file like the one it was trained on",
                    input.source, parsed.file.file_columns(), schema.file_columns));
  }
  if (format == FileFormat::kLibsvm) {
    ParsedText parsed = ParseLibsvmText(input, schema.file_columns, labels, settings);
    ApplyColumns(parsed.file, schema, settings.threads);
    return parsed;
  }
  Bytes window;
  const std::string_view head = ReadCsvHead(*input.text, input.source, window);
  return ParseCsvText(input, FindCsvLayout(head, input.source, schema, labels), schema.categorical,
                      settings);
}

// Reads rows by a schema: in random order if there is a seed, else in file order.
Dataset ReadOrdered(TextInput input, const Schema& schema, Labels labels,
                    std::optional<std::uint64_t> seed, const ParseSettings& settings) {
  Dataset data;
  data.source = input.source;
  data.features = schema.features;
  {
    const ParsedText parsed = ParseWithSchema(input, schema, labels, settings);
    std::vector<std::int64_t> order;
    if (seed) order = Random(*seed).Permutation(parsed.file.rows());
    const auto problem = EncodeLabels(parsed.file, schema, order, data);
    if (problem && labels == Labels::kRequired) ThrowAtLabel(input, parsed, *problem);
    input.text.reset();
    AssembleRows(parsed.file, order, settings.threads, data);
  }
  ApplyScaling(schema, settings.memory_bytes, data);
  return data;
}

ParseSettings SettingsOf(const ReadOptions& options) {
  return {.threads = options.threads, .memory_bytes = options.memory_bytes};
}

}  // namespace

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

TrainingData ReadTrainingText(TextInput input, const ReadOptions& options,
                              const ParseSettings& settings) {
  TrainingData result;
  result.data.source = input.source;
  std::vector<std::int64_t> order;
  bool images = false;
  {
    const ParsedText parsed = ParseAndLabel(input, options, settings, result, order);
    images = parsed.images;
    input.text.reset();
    result.data.features = result.schema.features;
    AssembleRows(parsed.file, order, settings.threads, result.data);
  }
  if (images && options.scaling == ScalingKind::kAuto) {
    LearnSharedScaling(result.data, result.train_rows, result.schema);
  } else {
    LearnScaling(result.data, result.train_rows, options.scaling, result.schema);
  }
  ApplyScaling(result.schema, settings.memory_bytes, result.data);
  return result;
}

TrainingData ReadTextToGoOn(TextInput input, const Schema& schema, const ReadOptions& options,
                            const ParseSettings& settings) {
  TrainingData result{.data = {}, .schema = schema};
  result.data = ReadOrdered(std::move(input), schema, Labels::kRequired, options.seed, settings);
  result.train_rows = CountTrainRows(result.data.rows, options.valid_fraction);
  return result;
}

Dataset ReadTextWithSchema(TextInput input, const Schema& schema, Labels labels,
                           const ParseSettings& settings) {
  return ReadOrdered(std::move(input), schema, labels, std::nullopt, settings);
}

TrainingData ReadTrainingData(const std::string& path, const ReadOptions& options) {
  return ReadTrainingText(OpenInput(path, options, Labels::kRequired), options,
                          SettingsOf(options));
}

TrainingData ReadToGoOn(const std::string& path, const Schema& schema, const ReadOptions& options) {
  return ReadTextToGoOn(OpenInput(path, options, Labels::kRequired), schema, options,
                        SettingsOf(options));
}

Dataset ReadWithSchema(const std::string& path, const Schema& schema, Labels labels,
                       const ReadOptions& options) {
  return ReadTextWithSchema(OpenInput(path, options, labels), schema, labels, SettingsOf(options));
}

}  // namespace hogbatch
