#include "datasets/encoding/fit_labels.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/labels.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

[[noreturn]] void ThrowMisfit(LabelKind kind) {
  throw UserError(fmt::format("the labels of this data are {}; use --loss auto",
                              kind == LabelKind::kClass        ? "classes"
                              : kind == LabelKind::kMultiLabel ? "lists"
                                                               : "numbers"));
}

std::vector<double> NumbersOf(const std::vector<std::string>& names) {
  std::vector<double> numbers;
  for (const std::string& name : names) {
    double number = 0;
    if (!ReadAll(name, number) || !std::isfinite(number)) {
      throw UserError(fmt::format("the label {} is not a number; use --loss auto", Quote(name)));
    }
    numbers.push_back(number);
  }
  return numbers;
}

void ClassesToNumbers(TrainingData& training) {
  if (!training.schema.positive.empty()) ThrowMisfit(LabelKind::kClass);
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
    ThrowMisfit(LabelKind::kClass);
  }
  training.data.label_offsets.resize(training.data.classes.size() + 1);
  std::iota(training.data.label_offsets.begin(), training.data.label_offsets.end(),
            std::int64_t{0});
  training.data.labels = std::move(training.data.classes);
  training.data.classes.clear();
  training.schema.label_kind = LabelKind::kMultiLabel;
}

}  // namespace

void FitLabels(LabelKind wanted, TrainingData& training) {
  const LabelKind kind = training.schema.label_kind;
  if (wanted == kind) return;
  if (kind != LabelKind::kClass) ThrowMisfit(kind);
  if (wanted == LabelKind::kValue) {
    ClassesToNumbers(training);
  } else {
    ClassesToLabels(training);
  }
}

}  // namespace hogbatch
