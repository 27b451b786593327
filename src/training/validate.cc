#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "core/option_checks.h"
#include "core/spelling.h"
#include "core/text.h"
#include "datasets/encoding/class_weights.h"
#include "datasets/encoding/split.h"
#include "datasets/schema.h"
#include "nn/initialize.h"
#include "training/model/model_file.h"
#include "training/spec.h"

namespace hogbatch {
namespace {

// Checks every value against its range and words.
class ValueCheck final : public OptionVisitor {
 public:
  void Group(std::string_view) override {}
  void Flag(std::string_view, bool&, std::string_view) override {}
  void Number(std::string_view name, std::int64_t& value, Range range, std::string_view) override {
    CheckInRange(name, static_cast<double>(value), range);
  }
  void Number(std::string_view name, double& value, Range range, std::string_view) override {
    CheckInRange(name, value, range);
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& values, Range range,
               std::string_view) override {
    for (const std::int64_t value : values) CheckInRange(name, static_cast<double>(value), range);
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view) override {
    CheckedWord(name, value, words);
  }
  void Text(std::string_view, std::string&, std::string_view, std::string_view) override {}
};

void CheckHidden(const std::vector<std::int64_t>& hidden) {
  if (hidden.size() > kMostHiddenLayers) {
    throw UserError(
        fmt::format("--hidden: {} layers; choose at most {}", hidden.size(), kMostHiddenLayers));
  }
  if (hidden.size() == 1 || std::ranges::find(hidden, 0) == hidden.end()) return;
  throw UserError("--hidden 0 (a linear model) cannot be combined with other layers");
}

void CheckInit(const TrainingSpec& spec) {
  if (!StartsFromFile(spec)) return;
  if (!std::filesystem::exists(spec.init)) {
    const Words words = InitializationWords();
    throw UserError(fmt::format("--init {}: neither one of {} nor an existing file{}", spec.init,
                                fmt::join(words.words, ", "), DidYouMean(spec.init, words.words)));
  }
  const TrainingSpec unset;
  const auto refuse = [](std::string_view name, bool is_given) {
    if (!is_given) return;
    throw UserError(
        fmt::format("--{}: the model of --init knows its columns and labels; leave it out", name));
  };
  refuse("task", spec.task != unset.task);
  refuse("categorical", spec.categorical != unset.categorical);
  refuse("ignore", spec.ignore != unset.ignore);
  refuse("keep", spec.keep != unset.keep);
  refuse("hash", spec.hash != unset.hash);
}

// What --task says that labels are; none: their values decide it.
std::optional<LabelKind> KindOf(LearningTask task) {
  switch (task) {
    case LearningTask::kAuto:
      break;
    case LearningTask::kClassify:
      return LabelKind::kClass;
    case LearningTask::kRegress:
      return LabelKind::kValue;
    case LearningTask::kMultiLabel:
      return LabelKind::kMultiLabel;
  }
  return std::nullopt;
}

std::string_view Meaning(LabelKind kind) {
  switch (kind) {
    case LabelKind::kClass:
      return "classes";
    case LabelKind::kMultiLabel:
      return "several labels per row";
    case LabelKind::kValue:
      break;
  }
  return "numbers";
}

// An option that says what labels are; none: it leaves that open.
struct KindOption {
  std::string text;
  std::optional<LabelKind> kind;
};

// Checks that need no labels.
void CheckLabels(const TrainingSpec& spec) {
  CheckClassWeights(spec.class_weights);
  const bool has_positive = !spec.positive.empty();
  KindOption task{"--task " + spec.task, KindOf(ParseTask(spec.task))};
  // --positive makes two classes of rows with several labels, too: those that have it, and others.
  if (has_positive && task.kind == LabelKind::kMultiLabel) task.kind.reset();
  KindOption loss{"--loss " + spec.loss, {}};
  if (const auto wanted = WantedLoss(spec)) loss.kind = LabelsFor(*wanted);
  for (const auto& [text, kind] : {task, loss}) {
    if (kind == LabelKind::kValue && WeighsClasses(spec)) {
      throw UserError(
          fmt::format("--class-weights is for classes; with {} the labels are numbers", text));
    }
    if (has_positive && kind && kind != LabelKind::kClass) {
      throw UserError(fmt::format(
          "--positive makes two classes, which {} cannot learn; leave out one of them", text));
    }
  }
  if (!task.kind || !loss.kind || task.kind == loss.kind) return;
  throw UserError(fmt::format("{} is for {}, but {} for {}; leave out one of them", task.text,
                              Meaning(*task.kind), loss.text, Meaning(*loss.kind)));
}

enum class ColumnUse : std::uint8_t { kInput, kNoInput, kSplit };

// Columns that an option names, and what for.
struct NamedColumns {
  std::string_view option;
  ColumnUse use;
  std::vector<std::string> columns;
};

std::vector<NamedColumns> ColumnOptions(const TrainingSpec& spec) {
  const auto one = [](const std::string& column) {
    return column.empty() ? std::vector<std::string>() : std::vector{column};
  };
  return {{"categorical", ColumnUse::kInput, SplitList(spec.categorical)},
          {"keep", ColumnUse::kInput, SplitList(spec.keep)},
          {"ignore", ColumnUse::kNoInput, SplitList(spec.ignore)},
          {"weight", ColumnUse::kNoInput, one(spec.weight)},
          {"split-by", ColumnUse::kSplit, one(spec.split_by)},
          {"split-time", ColumnUse::kSplit, one(spec.split_time)}};
}

bool Names(const NamedColumns& named, const std::string& column) {
  return std::ranges::find(named.columns, column) != named.columns.end();
}

// Options that --format rules out.
void CheckFormat(const TrainingSpec& spec) {
  const auto format = FileFormatOf(ParseWrittenFormat(spec.reading.format));
  if (!format) return;
  const auto refuse = [&](bool is_given, std::string_view option, std::string_view files) {
    if (!is_given) return;
    throw UserError(
        fmt::format("--{} is for {}, which --format {} rules out; leave out one of them", option,
                    files, spec.reading.format));
  };
  refuse(*format != FileFormat::kIdx && !spec.reading.labels.empty(), "labels", "IDX files");
  refuse(*format != FileFormat::kLibsvm && ParseTask(spec.task) == LearningTask::kMultiLabel,
         "task multilabel", "LIBSVM files");
  if (*format == FileFormat::kCsv) return;
  const bool is_first = *format == FileFormat::kLibsvm && spec.label == kFirstLabel;
  refuse(spec.label != kAutoLabel && !is_first, "label", "tables");
  for (const NamedColumns& named : ColumnOptions(spec)) {
    refuse(!named.columns.empty(), named.option, "tables");
  }
}

// Whether --label gives the name of a column. A number is a place here, but may be a name in other
// options.
bool NamesLabel(const TrainingSpec& spec) {
  const Words places = LabelWords();
  std::int64_t number = 0;
  return std::ranges::find(places.words, spec.label) == places.words.end() &&
         !ReadAll(spec.label, number);
}

// One column in two options that exclude each other. If it is named in two ways, by name and by
// number, reading the file finds it.
void CheckColumns(const TrainingSpec& spec) {
  const std::vector<NamedColumns> options = ColumnOptions(spec);
  for (const NamedColumns& one : options) {
    if (NamesLabel(spec) && Names(one, spec.label)) {
      throw UserError(
          fmt::format("--{} names the label column {}; leave it out, or choose another label with "
                      "--label",
                      one.option, spec.label));
    }
    if (one.use != ColumnUse::kNoInput) continue;
    for (const NamedColumns& other : options) {
      if (other.use != ColumnUse::kInput) continue;
      for (const std::string& column : one.columns) {
        if (!Names(other, column)) continue;
        throw UserError(
            fmt::format("--{} and --{} both name {}, which is either an input or not; "
                        "leave it out of one of them",
                        one.option, other.option, column));
      }
    }
  }
}

void CheckFold(const TrainingSpec& spec) {
  if (!ParseFold(spec.fold)) return;
  const auto refuse = [](bool is_given, const char* name) {
    if (!is_given) return;
    throw UserError(fmt::format("--fold chooses the validation rows; leave out --{}", name));
  };
  refuse(!spec.valid.empty(), "valid");
  refuse(!spec.split_time.empty(), "split-time");
  refuse(spec.valid_fraction != TrainingSpec().valid_fraction, "valid-fraction");
  refuse(spec.stream, "stream");
}

void CheckSplit(const TrainingSpec& spec) {
  CheckFold(spec);
  const std::string_view split =
      !spec.split_by.empty() ? "split-by" : (!spec.split_time.empty() ? "split-time" : "");
  if (!spec.split_by.empty() && !spec.split_time.empty()) {
    throw UserError("--split-by and --split-time cannot be combined; give one of them");
  }
  if (!spec.valid.empty() && !split.empty()) {
    throw UserError("--valid names the validation rows; leave out --split-by and --split-time");
  }
  if (spec.valid_fraction == 0 && !split.empty()) {
    throw UserError(fmt::format(
        "--valid-fraction 0 sets no rows aside, so that --{} has none to choose; leave out one of "
        "them",
        split));
  }
  // 0 is true of --valid: it takes no rows of DATA.
  const double fraction = spec.valid_fraction;
  if (!spec.valid.empty() && fraction > 0 && fraction != TrainingSpec().valid_fraction) {
    throw UserError("--valid names the validation rows; leave out --valid-fraction");
  }
}

void CheckStream(const TrainingSpec& spec) {
  if (!spec.stream) return;
  if (spec.no_cache) {
    throw UserError("--stream reads its rows from the cache; leave out --no-cache");
  }
  if (spec.data.empty()) throw UserError("--stream is for files; name one");
  if (!spec.split_by.empty() || !spec.split_time.empty()) {
    throw UserError(
        "--stream sets validation rows aside at random; leave out --split-by and --split-time, or "
        "name a file with --valid");
  }
}

}  // namespace

void Validate(const TrainingSpec& spec) {
  TrainingSpec copy = spec;  // a visitor might change what it visits
  ValueCheck values;
  copy.Visit(values);
  CheckHidden(spec.hidden);
  CheckInit(spec);
  CheckLabels(spec);
  spec.optimizer.Validate();
  // Throws if the text is wrong for any loss.
  spec.learning_rate.ChosenFor(Loss::kSoftmax, spec.optimizer.kind());
  ParseBatchRange("--cpu-batch", spec.batch.cpu_batch);
  ParseGpuBatch("--gpu-batch", spec.batch.gpu_batch);
  if (!spec.max_time.empty()) ParseDuration("--max-time", spec.max_time);
  spec.reading.Parse();
  EvaluatedRows(spec.eval_rows, 1, 0);
  CheckFormat(spec);
  CheckColumns(spec);
  CheckSplit(spec);
  CheckStream(spec);
}

void SetOption(TrainingSpec& spec, std::string_view name, std::string_view text) {
  SetOption([&](OptionVisitor& all) { spec.Visit(all); }, name, text);
}

}  // namespace hogbatch
