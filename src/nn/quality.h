// Quality of predictions beyond what training reports, added up row by row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hogbatch {

// Expected calibration error: how far the probability of the predicted class is from the share of
// rows in which it is right, over 15 ranges of probability, weighted by their rows.
class CalibrationError {
 public:
  void Add(double probability, bool is_right);
  double value() const;

 private:
  struct Bin {
    std::int64_t rows = 0;
    std::int64_t right = 0;
    double probability = 0;  // the sum
  };
  std::array<Bin, 15> bins_ = {};
};

// F1 of labels, of which a row may have several.
class LabelF1 {
 public:
  explicit LabelF1(std::int64_t labels) : counts_(labels) {}

  // `actual` ascends. A label is predicted if its probability is at least a half.
  void Add(std::span<const float> probabilities, std::span<const std::int32_t> actual);
  double micro() const;  // of all labels of all rows together
  double macro() const;  // the mean over the labels that occur or are predicted

 private:
  struct Counts {
    std::int64_t hits = 0, actual = 0, predicted = 0;
  };
  std::vector<Counts> counts_;
};

// Errors of predicted numbers.
class NumberErrors {
 public:
  void Add(double actual, double predicted);
  double mean_absolute() const { return absolute_ / static_cast<double>(rows_); }
  // The share of the variance that is explained; none if all numbers are the same.
  std::optional<double> r2() const;

 private:
  std::int64_t rows_ = 0;
  double absolute_ = 0;
  double squared_ = 0;
  // Of the actual numbers, by Welford's method.
  double mean_ = 0;
  double deviations_ = 0;
};

}  // namespace hogbatch
