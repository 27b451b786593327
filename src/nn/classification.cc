#include "nn/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace hogbatch {

ConfusionMatrix::ConfusionMatrix(std::int64_t classes)
    : classes_(classes),
      actual_(classes),
      predicted_(classes),
      hits_(classes),
      counts_(classes <= kMostCounted ? classes * classes : 0) {}

void ConfusionMatrix::Add(std::int32_t actual, std::int32_t predicted) {
  ++actual_[actual];
  ++predicted_[predicted];
  if (actual == predicted) ++hits_[actual];
  if (has_counts()) ++counts_[actual * classes_ + predicted];
}

std::optional<double> ConfusionMatrix::F1(std::int64_t which) const {
  const std::int64_t both = actual(which) + predicted(which);
  if (both == 0) return std::nullopt;
  return 2 * static_cast<double>(hits_[which]) / static_cast<double>(both);
}

double ConfusionMatrix::F1() const {
  if (classes_ == 2) return F1(1).value_or(0);
  double sum = 0;
  int with = 0;
  for (std::int64_t which = 0; which < classes_; ++which) {
    if (const auto one = F1(which)) {
      sum += *one;
      ++with;
    }
  }
  return with > 0 ? sum / with : 0;
}

std::string ConfusionMatrix::Table(std::span<const std::string> names) const {
  std::size_t name_width = std::string_view("label").size();
  for (const std::string& name : names) name_width = std::max(name_width, name.size());
  const std::int64_t largest = *std::max_element(counts_.begin(), counts_.end());
  const std::size_t width = std::max(name_width, fmt::format("{}", largest).size());
  std::string table = fmt::format("{:{}}  predicted\n{:>{}}", "", name_width, "label", name_width);
  for (const std::string& name : names) table += fmt::format("  {:>{}}", name, width);
  table += '\n';
  for (std::int64_t row = 0; row < classes_; ++row) {
    table += fmt::format("{:>{}}", names[row], name_width);
    for (std::int64_t column = 0; column < classes_; ++column) {
      table += fmt::format("  {:>{}}", count(row, column), width);
    }
    table += '\n';
  }
  return table;
}

std::optional<double> Auc(std::span<const float> scores, std::span<const std::uint8_t> positive) {
  // NaN cannot be ranked.
  if (!std::ranges::all_of(scores, [](float x) { return std::isfinite(x); })) return std::nullopt;
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });

  double rank_sum = 0;
  double positives = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double among = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) {
      among += positive[order[end]];
    }
    // Rows with equal scores share the mean of their ranks, which count from 1.
    rank_sum += among * (static_cast<double>(begin + end) + 1) / 2;
    positives += among;
    begin = end;
  }
  const double negatives = static_cast<double>(scores.size()) - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

std::optional<double> Auc(std::span<const float> scores, std::span<const std::int32_t> classes,
                          std::int64_t count) {
  double sum = 0;
  int with = 0;
  std::vector<float> column(classes.size());
  std::vector<std::uint8_t> positive(classes.size());
  for (std::int64_t which = count == 2 ? 1 : 0; which < count; ++which) {
    for (std::size_t row = 0; row < classes.size(); ++row) {
      column[row] = scores[row * count + which];
      positive[row] = classes[row] == which;
    }
    if (const auto one = Auc(column, positive)) {
      sum += *one;
      ++with;
    }
  }
  if (with == 0) return std::nullopt;
  return sum / with;
}

}  // namespace hogbatch
