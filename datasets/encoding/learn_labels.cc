#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/label_text.h"
#include "datasets/encoding/labels.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostClasses = 65536;
constexpr std::int64_t kFewRows = 100;        // too few to tell classes from values by counting
constexpr std::int64_t kRowsOfAClass = 5;     // a whole number with fewer rows is rather a value
constexpr double kClassesAmongNumbers = 0.8;  // share of numbers that have that many rows

// "+1" on the command line means the label 1.
std::string CanonicalWord(const std::string& word) {
  const std::optional<double> number = FiniteNumber(word);
  return number ? CanonicalName(*number + 0.0) : word;
}

// The different labels of a file, and the rows of each number.
struct LabelSet {
  std::map<double, std::int64_t> numbers;
  std::set<std::string, std::less<>> words;
  std::int64_t rows = 0;  // with a number
  bool all_whole = true;
  bool too_many = false;  // more numbers than could be classes; not all were kept

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [number, count] : numbers) names.push_back(CanonicalName(number));
    names.insert(names.end(), words.begin(), words.end());
    return names;
  }
  std::size_t size() const { return numbers.size() + words.size(); }
};

LabelSet CollectLabels(const ParsedFile& file, std::size_t most_numbers) {
  LabelSet set;
  for (const ParsedRows& chunk : file.chunks()) {
    set.words.insert(chunk.words.begin(), chunk.words.end());
    auto last = set.numbers.end();
    for (std::size_t i = 0; i < chunk.labels.size(); ++i) {
      if (!chunk.label_words.empty() && chunk.label_words[i] >= 0) continue;
      const double label = chunk.labels[i];
      ++set.rows;
      if (last == set.numbers.end() || last->first != label) {
        if (label != std::trunc(label)) set.all_whole = false;
        last = set.numbers.find(label);
        if (last == set.numbers.end() && set.numbers.size() <= most_numbers) {
          last = set.numbers.emplace(label, 0).first;
        }
      }
      if (last != set.numbers.end()) ++last->second;
    }
  }
  set.too_many = set.numbers.size() > most_numbers;
  return set;
}

// Whether whole numbers name classes.
bool LookLikeClasses(const LabelSet& set) {
  if (set.too_many) return false;
  if (set.numbers.size() <= 2 || set.rows < kFewRows) return true;
  const auto frequent = std::ranges::count_if(
      set.numbers, [](const auto& number) { return number.second >= kRowsOfAClass; });
  return static_cast<double>(frequent) >=
         kClassesAmongNumbers * static_cast<double>(set.numbers.size());
}

// In a LIBSVM file with one label a row, every row must have one.
void CheckEveryRowHasALabel(const ParsedFile& file) {
  for (std::int64_t i = 0; i < file.rows(); ++i) {
    if (file.row(i).label_count() == 0) throw LabelProblem{i, 0, std::string(kNoLabel)};
  }
}

void CheckWholeLabels(const ParsedFile& file) {
  for (std::int64_t i = 0; i < file.rows(); ++i) {
    const ParsedRow row = file.row(i);
    for (std::int64_t j = 0; j < row.label_count(); ++j) {
      const double label = row.label(j).number;
      if (label == std::trunc(label)) continue;
      throw LabelProblem{i, j,
                         fmt::format("label {} in a multi-label file is not a whole number; "
                                     "correct it",
                                     label)};
    }
  }
}

[[noreturn]] void ThrowOneClass(const std::string& source, const std::string& name) {
  throw UserError(
      fmt::format("{}: every row has the label {}; training needs at least two different labels",
                  source, name));
}

void RequireTask(LearningTask asked, LearningTask wanted, const std::string& source,
                 std::string_view why) {
  if (asked == LearningTask::kAuto || asked == wanted) return;
  throw UserError(
      fmt::format("{}: --task {}, but {}; leave it out, or choose another label column "
                  "with --label",
                  source, Name(asked), why));
}

// Whether the labels are values to predict, not classes.
bool IsValues(const LabelSet& set, LearningTask task, const std::string& source) {
  if (!set.words.empty()) {
    RequireTask(
        task, LearningTask::kClassify, source,
        fmt::format("some labels are words ({})", ListNames({set.words.begin(), set.words.end()})));
    if (set.size() > kMostClasses || set.too_many) {
      throw UserError(
          fmt::format("{}: the label column has more than {} different words; choose "
                      "another column with --label",
                      source, kMostClasses));
    }
    if (!set.all_whole && task == LearningTask::kAuto) {
      throw UserError(fmt::format(
          "{}: the label column mixes words ({}) with numbers that are not whole; choose another "
          "column with --label, or take all of them for classes with --task classify",
          source, ListNames({set.words.begin(), set.words.end()})));
    }
    return false;
  }
  if (task == LearningTask::kClassify && set.too_many) {
    throw UserError(
        fmt::format("{}: --task classify, but there are more than {} different labels; "
                    "use --task regress",
                    source, kMostClasses));
  }
  if (task != LearningTask::kAuto) return task == LearningTask::kRegress;
  return !set.all_whole || !LookLikeClasses(set);
}

// Whole numbers may be either, so that what was taken is said.
std::string ValuesNote(const LabelSet& set, LearningTask task) {
  if (task != LearningTask::kAuto || !set.all_whole) return "";
  return fmt::format(
      "task      {}{} different whole numbers, many of them in fewer than {} rows: "
      "values to predict; --task classify makes them classes",
      set.too_many ? "more than " : "", Grouped(std::ssize(set.numbers)), kRowsOfAClass);
}

std::string ClassesNote(const LabelSet& set, LearningTask task) {
  constexpr std::size_t kFew = 20;
  if (task != LearningTask::kAuto || set.numbers.size() <= kFew) return "";
  return fmt::format(
      "task      {} different whole numbers, nearly all in {} rows or more: "
      "classes; --task regress predicts them as numbers",
      Grouped(std::ssize(set.numbers)), kRowsOfAClass);
}

void LearnPositive(const ParsedFile& file, const std::string& source, const std::string& positive,
                   Schema& schema) {
  schema.positive = CanonicalWord(positive);
  schema.label_kind = LabelKind::kClass;
  schema.label_names = {"not " + schema.positive, schema.positive};
  const std::optional<double> number = FiniteNumber(positive);
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < file.rows(); ++i) {
    const ParsedRow row = file.row(i);
    for (std::int64_t j = 0; j < row.label_count(); ++j) {
      const WrittenLabel label = row.label(j);
      const bool equal = label.word.empty() ? number == label.number : label.word == positive;
      if (!equal) continue;
      ++rows;
      break;
    }
  }
  if (rows == 0) {
    throw UserError(
        fmt::format("{}: no row has the label {} that --positive names; its labels are {}", source,
                    Quote(positive), ListNames(CollectLabels(file, kMostClasses).Names())));
  }
  if (rows == file.rows()) ThrowOneClass(source, schema.positive);
}

}  // namespace

std::string LearnLabels(const ParsedFile& file, const std::string& source,
                        const LabelOptions& options, Schema& schema) {
  const bool sets = file.has_label_list() || options.task == LearningTask::kMultiLabel;
  if (sets) {
    if (schema.format != FileFormat::kLibsvm) {
      throw UserError(
          fmt::format("{}: --task multilabel is for LIBSVM files, with labels such as "
                      "3,17; leave it out",
                      source));
    }
    CheckWholeLabels(file);
  } else if (schema.format == FileFormat::kLibsvm) {
    CheckEveryRowHasALabel(file);
  }
  if (!options.positive.empty()) {
    LearnPositive(file, source, options.positive, schema);
    return "";
  }
  const LabelSet set =
      CollectLabels(file, sets ? std::numeric_limits<std::int32_t>::max() : kMostClasses);
  if (sets) {
    RequireTask(options.task, LearningTask::kMultiLabel, source, "its rows have several labels");
    schema.label_kind = LabelKind::kMultiLabel;
    schema.label_names = set.Names();
    return "";
  }
  if (set.size() == 1) ThrowOneClass(source, set.Names().front());
  if (IsValues(set, options.task, source)) {
    schema.label_kind = LabelKind::kValue;
    return ValuesNote(set, options.task);
  }
  schema.label_kind = LabelKind::kClass;
  schema.label_names = set.Names();
  return ClassesNote(set, options.task);
}

void LearnTargets(const ParsedFile& file, const std::string& source,
                  std::span<const std::int64_t> rows, Schema& schema) {
  const double count = static_cast<double>(rows.size());
  double mean = 0;
  for (const std::int64_t row : rows) mean += file.row(row).label(0).number / count;
  double variance = 0;
  for (const std::int64_t row : rows) {
    const double difference = file.row(row).label(0).number - mean;
    variance += difference * difference / count;
  }
  SetTargetScale(source, mean, variance, schema);
}

void SetTargetScale(const std::string& source, double mean, double variance, Schema& schema) {
  // NaN is in no range.
  if (!(std::abs(mean) <= kLargestTarget && std::sqrt(variance) <= kLargestTarget)) {
    throw UserError(fmt::format("{}: the labels are too large to learn; scale them", source));
  }
  schema.target_mean = mean;
  // If labels differ only in validation rows, the deviation is 0 and cannot divide.
  schema.target_deviation = variance > 0 ? std::sqrt(variance) : 1;
}

}  // namespace hogbatch
