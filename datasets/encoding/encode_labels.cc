#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "datasets/encoding/label_text.h"
#include "datasets/encoding/labels.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

std::string NameOf(const WrittenLabel& label) {
  return label.word.empty() ? CanonicalName(label.number) : std::string(label.word);
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

  // Appends the row's labels to the data set, or returns the one that cannot be used.
  std::optional<LabelProblem> Encode(const ParsedRow& row, Dataset& data) const {
    if (!schema_.positive.empty()) return EncodePositive(row, data);
    if (schema_.label_kind == LabelKind::kMultiLabel) return EncodeSet(row, data);
    if (row.label_count() == 0) return LabelProblem{0, 0, std::string(kNoLabel)};
    if (row.label_count() > 1) {
      return LabelProblem{0, 1,
                          "several labels, but the model has one per row; use a file like the "
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
    if (const std::optional<double> number = FiniteNumber(name)) {
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
    const std::int32_t* const last = std::unique(first, data.labels.end());
    data.labels.resize(last - data.labels.begin());
    data.label_offsets.push_back(static_cast<std::int64_t>(data.labels.size()));
    return std::nullopt;
  }

  std::optional<LabelProblem> EncodeValue(const WrittenLabel& label, Dataset& data) const {
    const float target =
        static_cast<float>((label.number - schema_.target_mean) / schema_.target_deviation);
    if (!label.word.empty() || !std::isfinite(target)) {
      return LabelProblem{0, 0,
                          fmt::format("label {} is not a number that the model can predict; "
                                      "correct it",
                                      Quote(NameOf(label)))};
    }
    data.targets.push_back(target);
    return std::nullopt;
  }

  LabelProblem Unknown(const ParsedRow& row, std::int64_t label) const {
    const std::string unknown = Quote(NameOf(row.label(label)));
    return {0, label,
            fmt::format("label {} is not one the model knows ({}); correct it, or use a file like "
                        "the one it was trained on",
                        unknown, ListNames(schema_.label_names)),
            unknown};
  }

  const Schema& schema_;
  std::unordered_map<double, std::int32_t> numbers_;
  std::unordered_map<std::string, std::int32_t> words_;
};

}  // namespace

std::optional<LabelProblem> EncodeLabels(const ParsedFile& file, const Schema& schema,
                                         std::span<const std::int64_t> order, Dataset& data) {
  const LabelEncoder encoder(schema);
  const bool rows_need_one = !schema.positive.empty() && !file.has_label_list();
  if (schema.label_kind == LabelKind::kMultiLabel) data.label_offsets.push_back(0);
  const std::int64_t rows = order.empty() ? file.rows() : std::ssize(order);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = order.empty() ? i : order[i];
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
