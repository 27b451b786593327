#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "core/error.h"
#include "datasets/encoding/label_text.h"
#include "datasets/encoding/labels.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostClasses = 1000;  // more different whole numbers are values, not classes
constexpr std::size_t kMostWords = 65536;

// "+1" on the command line means the label 1.
std::string CanonicalWord(const std::string& word) {
  const std::optional<double> number = FiniteNumber(word);
  return number ? CanonicalName(*number + 0.0) : word;
}

// The different labels of a file.
struct LabelSet {
  std::set<double> numbers;
  std::set<std::string, std::less<>> words;
  bool all_whole = true;
  bool too_many = false;  // more numbers than could be classes; not all were kept

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const double number : numbers) names.push_back(CanonicalName(number));
    names.insert(names.end(), words.begin(), words.end());
    return names;
  }
};

LabelSet CollectLabels(const ParsedFile& file, std::size_t most_numbers) {
  LabelSet set;
  for (const ParsedRows& chunk : file.chunks()) {
    set.words.insert(chunk.words.begin(), chunk.words.end());
    double last = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < chunk.labels.size(); ++i) {
      if (!chunk.label_words.empty() && chunk.label_words[i] >= 0) continue;
      const double label = chunk.labels[i];
      if (label == last) continue;
      last = label;
      if (label != std::trunc(label)) set.all_whole = false;
      if (set.numbers.size() <= most_numbers) set.numbers.insert(label);
    }
  }
  set.too_many = set.numbers.size() > most_numbers;
  return set;
}

// In a file with one label a row, every row must have one.
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

[[noreturn]] void ThrowOneClass(const ParsedFile& file, const std::string& source,
                                const std::string& name) {
  throw UserError(
      fmt::format("{}: all {} rows have the label {}; training needs at least two "
                  "different labels",
                  source, file.rows(), name));
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
  if (rows == file.rows()) ThrowOneClass(file, source, schema.positive);
}

}  // namespace

void LearnLabels(const ParsedFile& file, const std::string& source, const std::string& positive,
                 Schema& schema) {
  const bool sets = file.has_label_list();
  if (sets) {
    CheckWholeLabels(file);
  } else {
    CheckEveryRowHasALabel(file);
  }
  if (!positive.empty()) return LearnPositive(file, source, positive, schema);
  const LabelSet set =
      CollectLabels(file, sets ? std::numeric_limits<std::int32_t>::max() : kMostClasses);
  if (sets) {
    schema.label_kind = LabelKind::kMultiLabel;
    schema.label_names = set.Names();
    return;
  }
  if (set.words.size() > kMostWords) {
    throw UserError(
        fmt::format("{}: the label column has more than {} different words; choose "
                    "another column with --label",
                    source, kMostWords));
  }
  if (set.words.empty() && (!set.all_whole || set.too_many)) {
    schema.label_kind = LabelKind::kValue;
    if (set.numbers.size() == 1) ThrowOneClass(file, source, CanonicalName(*set.numbers.begin()));
    return;
  }
  if (!set.words.empty() && (!set.all_whole || set.too_many)) {
    throw UserError(
        fmt::format("{}: the label column mixes words ({}) with numbers that cannot be "
                    "classes; choose another column with --label",
                    source, ListNames({set.words.begin(), set.words.end()})));
  }
  schema.label_kind = LabelKind::kClass;
  schema.label_names = set.Names();
  if (schema.label_names.size() == 1) ThrowOneClass(file, source, schema.label_names.front());
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
