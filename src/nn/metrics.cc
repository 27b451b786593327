#include "nn/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.h"

namespace hogbatch {
namespace {

constexpr std::size_t kRanks[3] = {1, 3, 5};  // of precision at k

// ln(1 + eˣ) without overflow.
double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double LogSumExp(std::span<const float> row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float x : row) sum += std::exp(x - largest);
  return largest + std::log(sum);
}

double WeightOf(std::span<const float> class_weights, std::size_t index) {
  return class_weights.empty() ? 1 : class_weights[index];
}

// The indices of the largest `count` (at most 5) outputs, the largest first; the lowest index wins
// a tie.
std::size_t Largest(std::span<const float> row, std::size_t count, std::size_t (&top)[5]) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (found == count && !(row[i] > row[top[found - 1]])) continue;
    std::size_t place = found < count ? found++ : found - 1;
    for (; place > 0 && row[i] > row[top[place - 1]]; --place) top[place] = top[place - 1];
    top[place] = i;
  }
  return found;
}

// These three return the loss of the row and add all else to the sums.
double AddSoftmaxRow(std::span<const float> row, std::int32_t wanted,
                     std::span<const float> class_weights, EvaluationSums& sums) {
  const std::size_t index = wanted;
  Check(wanted >= 0 && index < row.size(), "a row's class has no output");
  const auto largest = std::max_element(row.begin(), row.end()) - row.begin();
  sums.correct += largest == wanted && !std::isnan(row[index]);
  return WeightOf(class_weights, index) * (LogSumExp(row) - row[index]);
}

double AddSigmoidRow(std::span<const float> row, std::span<const std::int32_t> labels,
                     std::span<const float> class_weights, EvaluationSums& sums) {
  double loss = 0;
  for (const float x : row) loss += Softplus(x);
  std::size_t top[5];
  const std::size_t found = Largest(row, std::min<std::size_t>(5, row.size()), top);
  for (const std::int32_t label : labels) {
    const std::size_t index = label;
    Check(label >= 0 && index < row.size(), "a row's label has no output");
    const double x = row[index];
    loss += WeightOf(class_weights, index) * Softplus(-x) - Softplus(x);
    const std::size_t rank = std::find(top, top + found, index) - top;
    for (std::size_t k = 0; k < 3; ++k) {
      if (rank < std::min(found, kRanks[k]))
        sums.hits_at[k] += 1.0 / static_cast<double>(kRanks[k]);
    }
  }
  return loss / static_cast<double>(row.size());
}

double AddSquaredRow(std::span<const float> row, std::span<const float> values,
                     EvaluationSums& sums) {
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double difference = static_cast<double>(row[i]) - values[i];
    sum += difference * difference;
  }
  const double mean = sum / static_cast<double>(row.size());
  sums.squared_error += mean;
  return mean;
}

}  // namespace

EvaluationSums Evaluate(Loss loss, std::span<const float> outputs, std::int64_t columns,
                        const HostTargets& targets, std::span<const float> class_weights) {
  Check(columns >= 1, "outputs have no columns");
  const std::size_t width = columns;
  const std::size_t rows = outputs.size() / width;
  Check(class_weights.empty() || class_weights.size() == width, "class weights do not fit outputs");
  EvaluationSums sums;
  sums.rows = static_cast<std::int64_t>(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto row = outputs.subspan(r * width, width);
    double row_loss = 0;
    switch (loss) {
      case Loss::kSoftmax:
        row_loss = AddSoftmaxRow(row, targets.classes[r], class_weights, sums);
        break;
      case Loss::kSigmoid: {
        const std::int64_t begin = targets.label_offsets[r];
        const std::int64_t end = std::max(begin, targets.label_offsets[r + 1]);  // or it was lost
        row_loss =
            AddSigmoidRow(row, targets.labels.subspan(begin, end - begin), class_weights, sums);
        break;
      }
      case Loss::kSquared:
        row_loss = AddSquaredRow(row, targets.values.subspan(r * width, width), sums);
        break;
    }
    sums.loss += (targets.weights.empty() ? 1 : targets.weights[r]) * row_loss;
  }
  return sums;
}

void ToProbabilities(Loss loss, std::span<float> outputs, std::int64_t columns) {
  if (loss == Loss::kSquared) return;
  if (loss == Loss::kSigmoid) {
    for (float& x : outputs) x = static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x))));
    return;
  }
  const std::size_t width = columns;
  for (std::size_t at = 0; at + width <= outputs.size(); at += width) {
    const auto row = outputs.subspan(at, width);
    const double log_sum = LogSumExp(row);
    for (float& x : row) x = static_cast<float>(std::exp(x - log_sum));
  }
}

}  // namespace hogbatch
