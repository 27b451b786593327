#include "datasets/read.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/assembly.h"
#include "datasets/encoding/columns.h"
#include "datasets/encoding/encode_table.h"
#include "datasets/encoding/labels.h"
#include "datasets/encoding/scaling.h"
#include "datasets/encoding/split.h"
#include "datasets/parse_input.h"
#include "datasets/read_table.h"
#include "datasets/readers/libsvm_reader.h"

namespace hogbatch {
namespace {

ParsedInput LearnIdx(const TextInput& input, const ReadOptions& options,
                     const ParseSettings& settings, Schema& schema) {
  if (options.label != kAutoLabel) {
    throw UserError(
        fmt::format("{}: the labels of an IDX file are in a file of their own, which --labels "
                    "names; leave out --label {}",
                    input.source, options.label));
  }
  ParsedInput parsed = ParseIdxInput(input, settings);
  schema.file_columns = parsed.file.file_columns();
  schema.features = schema.file_columns;
  return parsed;
}

ParsedInput LearnLibsvm(const TextInput& input, const ReadOptions& options,
                        const ParseSettings& settings, Schema& schema) {
  if (options.label != kAutoLabel && options.label != kFirstLabel) {
    throw UserError(
        fmt::format("{}: the label of a LIBSVM file comes first in its rows; leave out "
                    "--label {}",
                    input.source, options.label));
  }
  ParsedInput parsed = ParseLibsvmInput(input, kLargestIndex, Labels::kRequired, settings);
  LearnColumns(parsed.file, schema, settings.threads);
  if (schema.features == 0) {
    throw UserError(
        fmt::format("{}: no row has a feature; use a file with index:value pairs", input.source));
  }
  return parsed;
}

// The rows that have a label: all of them, except in a table.
std::vector<std::int64_t> LabelledRows(const ParsedInput& parsed) {
  std::vector<std::int64_t> rows;
  const bool may_lack = parsed.format == FileFormat::kCsv;
  for (std::int64_t i = 0; i < parsed.file.rows(); ++i) {
    if (!may_lack || parsed.file.row(i).label_count() > 0) rows.push_back(i);
  }
  return rows;
}

// The split that the options ask for. Without one, every class has its share of validation rows.
RowSplit MakeSplit(const TextInput& input, const ParsedInput& parsed,
                   std::optional<std::int64_t> column, const Schema& schema,
                   const ReadOptions& options, std::span<const std::int64_t> rows) {
  if (column) return SplitTable(input, parsed, *column, options, rows);
  const SplitRequest request{.rows = rows,
                             .valid_fraction = options.valid_fraction,
                             .fold = options.fold,
                             .seed = options.seed};
  if (schema.label_kind != LabelKind::kClass) return SplitAtRandom(request);
  Dataset labels;
  const auto problem = EncodeLabels(parsed.file, schema, rows, labels);
  if (problem) ThrowAtLabel(input, parsed, *problem);
  return SplitByClass(request, labels.classes);
}

RowSplit ChooseSplit(const TextInput& input, const ParsedInput& parsed,
                     std::optional<std::int64_t> column, const Schema& schema,
                     const ReadOptions& options, std::span<const std::int64_t> rows) {
  RowSplit split = MakeSplit(input, parsed, column, schema, options, rows);
  const bool is_whole = split.train_rows > 0 && split.train_rows < std::ssize(split.order);
  if (!options.fold || is_whole) return split;
  throw UserError(fmt::format("{}: {} are too few for {} folds; make fewer", input.source,
                              options.split_by.empty()
                                  ? fmt::format("{} rows", Grouped(std::ssize(rows)))
                                  : fmt::format("the groups of --split-by {}", options.split_by),
                              options.fold.of));
}

// Options that name columns.
void RequireNoColumns(const TextInput& input, const ReadOptions& options) {
  const auto refuse = [&](bool is_given, std::string_view option) {
    if (!is_given) return;
    throw UserError(fmt::format("{}: only a table has columns with names; leave out --{}",
                                input.source, option));
  };
  refuse(!options.categorical.empty(), "categorical");
  refuse(!options.ignore.empty(), "ignore");
  refuse(!options.keep.empty(), "keep");
  refuse(!options.weight.empty(), "weight");
  refuse(!options.split_by.empty(), "split-by");
  refuse(!options.split_time.empty(), "split-time");
}

// All steps whose errors point into the text: labels and features. Returns the parsed rows.
ParsedInput ParseToLearn(const TextInput& input, const ReadOptions& options,
                         const ParseSettings& settings, TrainingData& result,
                         std::vector<std::int64_t>& order) {
  Schema& schema = result.schema;
  schema.format = FormatOf(input);
  std::optional<ParsedTable> table;
  std::optional<ParsedInput> rows;
  if (schema.format == FileFormat::kIdx) {
    rows = LearnIdx(input, options, settings, schema);
    result.detected = "IDX";
  } else if (schema.format == FileFormat::kLibsvm) {
    rows = LearnLibsvm(input, options, settings, schema);
    result.detected = "LIBSVM";
  } else {
    table = ParseTable(input, options, settings, schema);
  }
  ParsedInput& parsed = table ? table->parsed : *rows;
  if (!table) RequireNoColumns(input, options);
  const std::vector<std::int64_t> labelled = LabelledRows(parsed);
  result.data.skipped_rows = parsed.file.rows() - std::ssize(labelled);
  NoteSkippedRows(input.source, std::ssize(labelled), result.data);
  try {
    const std::string note = LearnLabels(
        parsed.file, input.source, {.task = options.task, .positive = options.positive}, schema);
    if (!note.empty()) result.data.notes.push_back(note);
  } catch (const LabelProblem& problem) {
    ThrowAtLabel(input, parsed, problem);
  }
  const auto column = table ? table->choice.split : std::nullopt;
  RowSplit split = ChooseSplit(input, parsed, column, schema, options, labelled);
  order = std::move(split.order);
  result.train_rows = split.train_rows;
  if (schema.label_kind == LabelKind::kValue) {
    LearnTargets(parsed.file, input.source, std::span(order).first(result.train_rows), schema);
  }
  const auto problem = EncodeLabels(parsed.file, schema, order, result.data);
  if (problem) ThrowAtLabel(input, parsed, *problem);
  if (table) {
    if (table->choice.weight) {
      result.data.weights = WeightsOf(input, parsed, *table->choice.weight, order);
    }
    LearnAndEncode(input, *table, order, options, result);
  }
  return std::move(parsed);
}

KnownTable ParseWithSchema(const TextInput& input, const Schema& schema, Labels labels,
                           const ReadOptions& options, const ParseSettings& settings,
                           std::vector<std::string>& notes) {
  const FileFormat format = FormatOf(input);
  if (format != schema.format) {
    throw UserError(
        fmt::format("{}: this is a {} file, but the model was trained on {}; convert it",
                    input.source, Title(format), Title(schema.format)));
  }
  if (format == FileFormat::kIdx) {
    ParsedInput parsed = ParseIdxInput(input, settings);
    if (parsed.file.file_columns() == schema.file_columns) return {.parsed = std::move(parsed)};
    throw UserError(
        fmt::format("{}: its rows have {} numbers, but the model was trained on rows of {}; use a "
                    "file like the one it was trained on",
                    input.source, parsed.file.file_columns(), schema.file_columns));
  }
  if (format == FileFormat::kLibsvm) {
    ParsedInput parsed = ParseLibsvmInput(input, schema.file_columns, labels, settings);
    ApplyColumns(parsed.file, schema, settings.threads);
    return {.parsed = std::move(parsed)};
  }
  return ParseKnownTable(input, schema, labels, options, settings, notes);
}

// Which rows of a file that a schema describes are used, and in which order; empty: all of them.
enum class Use : std::uint8_t { kTrain, kEvaluate, kPredict };
RowSplit RowsFor(Use use, const TextInput& input, const KnownTable& table, const Schema& schema,
                 const ReadOptions& options, Dataset& data) {
  if (use == Use::kPredict) return {};
  std::vector<std::int64_t> labelled = LabelledRows(table.parsed);
  data.skipped_rows = table.parsed.file.rows() - std::ssize(labelled);
  if (use == Use::kEvaluate || labelled.empty()) return {.order = std::move(labelled)};
  return ChooseSplit(input, table.parsed, table.split, schema, options, labelled);
}

TrainingData ReadKnown(TextInput input, const Schema& schema, Use use, const ReadOptions& options,
                       const ParseSettings& settings) {
  TrainingData result{.data = {}, .schema = schema};
  Dataset& data = result.data;
  data.source = input.source;
  data.features = schema.features;
  const Labels labels = use == Use::kPredict ? Labels::kOptional : Labels::kRequired;
  {
    KnownTable table = ParseWithSchema(input, schema, labels, options, settings, data.notes);
    ParsedFile& file = table.parsed.file;
    const RowSplit split = RowsFor(use, input, table, schema, options, data);
    if (data.skipped_rows > 0 && split.order.empty()) return result;  // no row has a label
    auto problem = EncodeLabels(file, schema, split.order, data);
    if (problem && labels == Labels::kRequired) {
      if (options.knows_sample_only && !problem->unknown.empty()) {
        problem->what = fmt::format(
            "label {} does not occur in the sample of rows that --stream takes; raise "
            "--memory-limit, so that it looks at more rows, or leave out --stream",
            problem->unknown);
      }
      ThrowAtLabel(input, table.parsed, *problem);
    }
    if (table.weight) data.weights = WeightsOf(input, table.parsed, *table.weight, split.order);
    input.text.reset();
    if (schema.format == FileFormat::kCsv) EncodeTable(file, schema.table, settings.threads);
    AssembleRows(file, split.order, settings.threads, data);
    result.train_rows = split.train_rows;
  }
  ApplyScaling(schema, settings.memory_bytes, data);
  return result;
}

ParseSettings SettingsOf(const ReadOptions& options) {
  return {.threads = options.threads, .memory_bytes = options.memory_bytes};
}

}  // namespace

void NoteSkippedRows(const std::string& source, std::int64_t labelled, Dataset& data) {
  if (data.skipped_rows == 0) return;
  if (labelled == 0) {
    throw UserError(
        fmt::format("{}: no row has a label; choose another column with --label", source));
  }
  data.notes.push_back(fmt::format("skipped   {} of {} rows, which have no label",
                                   Grouped(data.skipped_rows),
                                   Grouped(labelled + data.skipped_rows)));
}

TrainingData ReadTrainingText(TextInput input, const ReadOptions& options,
                              const ParseSettings& settings) {
  TrainingData result;
  result.data.source = input.source;
  std::vector<std::int64_t> order;
  bool images = false;
  {
    const ParsedInput parsed = ParseToLearn(input, options, settings, result, order);
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
  TrainingData result = ReadKnown(std::move(input), schema, Use::kTrain, options, settings);
  NoteSkippedRows(result.data.source, result.data.rows, result.data);
  return result;
}

Dataset ReadTextWithSchema(TextInput input, const Schema& schema, Labels labels,
                           const ReadOptions& options, const ParseSettings& settings) {
  const Use use = labels == Labels::kRequired ? Use::kEvaluate : Use::kPredict;
  return ReadKnown(std::move(input), schema, use, options, settings).data;
}

TrainingData ReadTrainingData(const std::string& path, const ReadOptions& options) {
  return ReadTrainingText(OpenInput(path, options, Labels::kRequired), options,
                          SettingsOf(options));
}

FileSplit SplitFile(const std::string& path, const ReadOptions& options) {
  TrainingData learnt;
  std::vector<std::int64_t> order;
  ParseToLearn(OpenInput(path, options, Labels::kRequired), options, SettingsOf(options), learnt,
               order);
  const auto valid = order.begin() + learnt.train_rows;
  return {.train = {order.begin(), valid}, .valid = {valid, order.end()}};
}

TrainingData ReadToGoOn(const std::string& path, const Schema& schema, const ReadOptions& options) {
  return ReadTextToGoOn(OpenInput(path, options, Labels::kRequired), schema, options,
                        SettingsOf(options));
}

Dataset ReadWithSchema(const std::string& path, const Schema& schema, Labels labels,
                       const ReadOptions& options) {
  Dataset data = ReadTextWithSchema(OpenInput(path, options, labels), schema, labels, options,
                                    SettingsOf(options));
  NoteSkippedRows(data.source, data.rows, data);
  return data;
}

}  // namespace hogbatch
