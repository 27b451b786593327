// Quality of a classification beyond accuracy.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hogbatch {

// Counts rows by actual and predicted class. With more than kMostCounted classes it keeps only what
// F1 needs, because the matrix grows with their square.
class ConfusionMatrix {
 public:
  static constexpr std::int64_t kMostCounted = 1000;  // classes with a matrix, 8 MB

  explicit ConfusionMatrix(std::int64_t classes);

  void Add(std::int32_t actual, std::int32_t predicted);
  std::int64_t classes() const { return classes_; }
  bool has_counts() const { return classes_ <= kMostCounted; }  // count() and Table() may be called
  std::int64_t count(std::int64_t actual, std::int64_t predicted) const {
    return counts_[actual * classes_ + predicted];
  }
  // Rows of a class, and rows predicted to be of it.
  std::int64_t actual(std::int64_t which) const { return actual_[which]; }
  std::int64_t predicted(std::int64_t which) const { return predicted_[which]; }

  // Harmonic mean of precision and recall; none for a class that no row has and
  // none is predicted to have.
  std::optional<double> F1(std::int64_t which) const;
  // With two classes the F1 of the second, else the mean over the classes that have one.
  double F1() const;

  // The matrix as a table with the names of the labels.
  std::string Table(std::span<const std::string> names) const;

 private:
  std::int64_t classes_;
  std::vector<std::int64_t> actual_;
  std::vector<std::int64_t> predicted_;
  std::vector<std::int64_t> hits_;
  std::vector<std::int64_t> counts_;  // actual × predicted
};

// The probability that a positive row scores above a negative one, ties counting half; none when
// either kind is missing or a score is not finite.
std::optional<double> Auc(std::span<const float> scores, std::span<const std::uint8_t> positive);

// With two classes the AUC of the second's score, else the mean AUC of each class against the rest,
// over the classes that have one. `scores` is rows × classes.
std::optional<double> Auc(std::span<const float> scores, std::span<const std::int32_t> classes,
                          std::int64_t count);

}  // namespace hogbatch
