#include "datasets/encoding/fit_labels.h"

#include <fmt/format.h>

#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/labels.h"

namespace hogbatch {
namespace {

[[noreturn]] void ThrowMisfit(const std::string& loss, LabelKind kind) {
  throw UserError(
      fmt::format("--loss {} does not fit this data: its labels are {}; use --loss auto", loss,
                  kind == LabelKind::kClass        ? "classes"
                  : kind == LabelKind::kMultiLabel ? "lists"
                                                   : "numbers"));
}

std::vector<double> NumbersOf(const std::vector<std::string>& names) {
  std::vector<double> numbers;
  for (const std::string& name : names) {
    numbers.push_back(ParseReal("--loss squared takes labels as numbers, and", name));
  }
  return numbers;
}

void ClassesToNumbers(TrainingData& training) {
  if (!training.schema.positive.empty()) ThrowMisfit("squared", LabelKind::kClass);
  const std::vector<double> numbers = NumbersOf(training.schema.label_names);
  const Array<std::int32_t>& classes = training.data.classes;
  double sum = 0;
  double squares = 0;
  const auto rows = static_cast<double>(training.train_rows);
  for (std::int64_t row = 0; row < training.train_rows; ++row) sum += numbers[classes[row]];
  const double mean = sum / rows;
  for (std::int64_t row = 0; row < training.train_rows; ++row) {
    const double off = numbers[classes[row]] - mean;
    squares += off * off;
  }
  SetTargetScale(training.data.source, mean, squares / rows, training.schema);
  for (const std::int32_t one : classes) {
    training.data.targets.push_back(
        static_cast<float>((numbers[one] - mean) / training.schema.target_deviation));
  }
  training.data.classes.clear();
  training.schema.label_kind = LabelKind::kValue;
  training.schema.label_names.clear();
}

void ClassesToLabels(TrainingData& training) {
  // Only a LIBSVM row may have several labels, and a class against the rest is not a list of them.
  if (training.schema.format != FileFormat::kLibsvm || !training.schema.positive.empty()) {
    ThrowMisfit("sigmoid", LabelKind::kClass);
  }
  training.data.label_offsets.resize(training.data.classes.size() + 1);
  std::iota(training.data.label_offsets.begin(), training.data.label_offsets.end(),
            std::int64_t{0});
  training.data.labels = std::move(training.data.classes);
  training.data.classes.clear();
  training.schema.label_kind = LabelKind::kMultiLabel;
}

}  // namespace

void FitLabels(const std::string& loss, TrainingData& training) {
  const LabelKind kind = training.schema.label_kind;
  if (loss == "squared" && kind == LabelKind::kClass) {
    ClassesToNumbers(training);
  } else if (loss == "sigmoid" && kind == LabelKind::kClass) {
    ClassesToLabels(training);
  } else if ((loss == "softmax" && kind != LabelKind::kClass) ||
             (loss == "sigmoid" && kind != LabelKind::kMultiLabel) ||
             (loss == "squared" && kind != LabelKind::kValue)) {
    ThrowMisfit(loss, kind);
  }
}

}  // namespace hogbatch
