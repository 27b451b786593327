#include "datasets/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "datasets/numbers.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostClasses = 1000;  // of whole numbers; more are values
constexpr std::size_t kMostWords = 65536;

constexpr std::string_view kNoLabel =
    "the row has no label; only multi-label files (labels such as 3,17) may have such rows, write "
    "one";

std::string NameOf(const WrittenLabel& label) {
  return label.word.empty() ? CanonicalName(label.number) : std::string(label.word);
}

// "+1" on the command line means the label 1.
std::string CanonicalWord(const std::string& word) {
  const std::optional<double> number = WholeNumber(word);
  return number ? CanonicalName(*number + 0.0) : word;
}

// "-1, 1, 2" or the first few "… (983 in all)".
std::string ListNames(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    list += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kShown) list += fmt::format(", ... ({} in all)", names.size());
  return list;
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
  const std::optional<double> number = WholeNumber(positive);
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

// Finds the output of a label by the schema's names.
class LabelEncoder {
 public:
  explicit LabelEncoder(const Schema& schema) : schema_(schema) {
    if (!schema.positive.empty()) {
      Insert(schema.positive, 1);
      return;
    }
    for (std::size_t i = 0; i < schema.label_names.size(); ++i) {
      Insert(schema.label_names[i], static_cast<std::int32_t>(i));
    }
  }

  // The class or label, or -1 when the schema does not know it.
  std::int32_t Find(const WrittenLabel& label) const {
    if (label.word.empty()) {
      const auto found = numbers_.find(label.number);
      return found == numbers_.end() ? -1 : found->second;
    }
    const auto found = words_.find(std::string(label.word));
    return found == words_.end() ? -1 : found->second;
  }

  // Appends the row's labels to the data set, or says which of them cannot be used.
  std::optional<LabelProblem> Encode(const ParsedRow& row, Dataset& data) const {
    if (!schema_.positive.empty()) return EncodePositive(row, data);
    if (schema_.label_kind == LabelKind::kMultiLabel) return EncodeSet(row, data);
    if (row.label_count() == 0) return LabelProblem{0, 0, std::string(kNoLabel)};
    if (row.label_count() > 1) {
      return LabelProblem{0, 1,
                          "several labels but the model knows one a row; use a file like the "
                          "one it was trained on"};
    }
    if (schema_.label_kind == LabelKind::kValue) return EncodeValue(row.label(0), data);
    const std::int32_t found = Find(row.label(0));
    if (found < 0) return Unknown(row, 0);
    data.classes.push_back(found);
    return std::nullopt;
  }

 private:
  void Insert(const std::string& name, std::int32_t output) {
    if (const std::optional<double> number = WholeNumber(name)) {
      numbers_.emplace(*number, output);
    } else {
      words_.emplace(name, output);
    }
  }

  std::optional<LabelProblem> EncodePositive(const ParsedRow& row, Dataset& data) const {
    std::int32_t found = 0;
    for (std::int64_t i = 0; i < row.label_count(); ++i) {
      found = std::max(found, Find(row.label(i)));
    }
    data.classes.push_back(found);
    return std::nullopt;
  }

  std::optional<LabelProblem> EncodeSet(const ParsedRow& row, Dataset& data) const {
    const std::size_t begin = data.labels.size();
    for (std::int64_t i = 0; i < row.label_count(); ++i) {
      const std::int32_t found = Find(row.label(i));
      if (found < 0) return Unknown(row, i);
      data.labels.push_back(found);
    }
    const auto first = data.labels.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, data.labels.end());
    data.labels.erase(std::unique(first, data.labels.end()), data.labels.end());
    data.label_offsets.push_back(static_cast<std::int64_t>(data.labels.size()));
    return std::nullopt;
  }

  std::optional<LabelProblem> EncodeValue(const WrittenLabel& label, Dataset& data) const {
    const float target =
        static_cast<float>((label.number - schema_.target_mean) / schema_.target_deviation);
    if (!label.word.empty() || !std::isfinite(target)) {
      return LabelProblem{0, 0,
                          fmt::format("label {} but the model predicts numbers like those it "
                                      "was trained on; correct it",
                                      Quote(NameOf(label)))};
    }
    data.targets.push_back(target);
    return std::nullopt;
  }

  LabelProblem Unknown(const ParsedRow& row, std::int64_t label) const {
    return {0, label,
            fmt::format("label {} is not one the model knows ({}); correct it, or use a file like "
                        "the one it was trained on",
                        Quote(NameOf(row.label(label))), ListNames(schema_.label_names))};
  }

  const Schema& schema_;
  std::unordered_map<double, std::int32_t> numbers_;
  std::unordered_map<std::string, std::int32_t> words_;
};

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
        fmt::format("{}: the label column holds more than {} different words; name "
                    "another with --label",
                    source, kMostWords));
  }
  if (set.words.empty() && (!set.all_whole || set.too_many)) {
    schema.label_kind = LabelKind::kValue;
    if (set.numbers.size() == 1) ThrowOneClass(file, source, CanonicalName(*set.numbers.begin()));
    return;
  }
  if (!set.words.empty() && (!set.all_whole || set.too_many)) {
    throw UserError(
        fmt::format("{}: the label column mixes words ({}) with numbers that are no "
                    "classes; name another with --label",
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
  if (!std::isfinite(mean) || !std::isfinite(variance)) {
    throw UserError(fmt::format("{}: the labels are too large to learn; scale them", source));
  }
  schema.target_mean = mean;
  // Labels that differ in validation rows only leave nothing to divide by.
  schema.target_deviation = variance > 0 ? std::sqrt(variance) : 1;
}

std::optional<LabelProblem> EncodeLabels(const ParsedFile& file, const Schema& schema,
                                         std::span<const std::int64_t> order, Dataset& data) {
  const LabelEncoder encoder(schema);
  const bool rows_need_one = !schema.positive.empty() && !file.has_label_list();
  if (schema.label_kind == LabelKind::kMultiLabel) data.label_offsets.push_back(0);
  for (std::int64_t i = 0; i < file.rows(); ++i) {
    const std::int64_t row = order.empty() ? i : order[static_cast<std::size_t>(i)];
    std::optional<LabelProblem> problem;
    if (rows_need_one && file.row(row).label_count() == 0) {
      problem = LabelProblem{0, 0, std::string(kNoLabel)};
    } else {
      problem = encoder.Encode(file.row(row), data);
    }
    if (!problem) continue;
    problem->row = row;
    data.classes = {};
    data.labels = {};
    data.label_offsets = {};
    data.targets = {};
    return problem;
  }
  return std::nullopt;
}

}  // namespace hogbatch
