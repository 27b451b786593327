#include "nn/quality.h"

#include <algorithm>
#include <cmath>

namespace hogbatch {
namespace {

double F1Of(std::int64_t hits, std::int64_t actual, std::int64_t predicted) {
  return actual + predicted == 0
             ? 0
             : 2.0 * static_cast<double>(hits) / static_cast<double>(actual + predicted);
}

}  // namespace

void CalibrationError::Add(double probability, bool is_right) {
  const auto bins = static_cast<double>(bins_.size());
  const auto index = static_cast<std::size_t>(std::clamp(probability * bins, 0.0, bins - 1));
  ++bins_[index].rows;
  bins_[index].probability += probability;
  if (is_right) ++bins_[index].right;
}

double CalibrationError::value() const {
  double sum = 0;
  std::int64_t rows = 0;
  for (const Bin& bin : bins_) {
    sum += std::abs(bin.probability - static_cast<double>(bin.right));
    rows += bin.rows;
  }
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

void LabelF1::Add(std::span<const float> probabilities, std::span<const std::int32_t> actual) {
  for (const std::int32_t label : actual) ++counts_[label].actual;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] < 0.5f) continue;
    ++counts_[i].predicted;
    if (std::ranges::binary_search(actual, static_cast<std::int32_t>(i))) ++counts_[i].hits;
  }
}

double LabelF1::micro() const {
  Counts all;
  for (const Counts& one : counts_) {
    all.hits += one.hits;
    all.actual += one.actual;
    all.predicted += one.predicted;
  }
  return F1Of(all.hits, all.actual, all.predicted);
}

double LabelF1::macro() const {
  double sum = 0;
  std::int64_t labels = 0;
  for (const Counts& one : counts_) {
    if (one.actual + one.predicted == 0) continue;
    sum += F1Of(one.hits, one.actual, one.predicted);
    ++labels;
  }
  return labels == 0 ? 0 : sum / static_cast<double>(labels);
}

void NumberErrors::Add(double actual, double predicted) {
  const double error = predicted - actual;
  ++rows_;
  absolute_ += std::abs(error);
  squared_ += error * error;
  const double from_mean = actual - mean_;
  mean_ += from_mean / static_cast<double>(rows_);
  deviations_ += from_mean * (actual - mean_);
}

std::optional<double> NumberErrors::r2() const {
  if (deviations_ <= 0) return std::nullopt;
  return 1 - squared_ / deviations_;
}

}  // namespace hogbatch
