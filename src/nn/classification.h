// How well classes were told apart, beyond accuracy.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hogbatch {

// Who was taken for whom. Of many classes only what F1 needs: the matrix grows with their square.
class ConfusionMatrix {
 public:
  static constexpr std::int64_t kMostCounted = 1000;  // classes with a matrix, 8 MB

  explicit ConfusionMatrix(std::int64_t classes);

  void Add(std::int32_t actual, std::int32_t predicted);
  std::int64_t classes() const { return classes_; }
  bool has_counts() const { return classes_ <= kMostCounted; }  // count() and Table() may be called
  std::int64_t count(std::int64_t actual, std::int64_t predicted) const {
    return counts_[static_cast<std::size_t>(actual * classes_ + predicted)];
  }
  // Rows of a class, and rows taken for it.
  std::int64_t actual(std::int64_t which) const { return actual_[static_cast<std::size_t>(which)]; }
  std::int64_t predicted(std::int64_t which) const {
    return predicted_[static_cast<std::size_t>(which)];
  }

  // Harmonic mean of precision and recall; none for a class neither there nor predicted.
  std::optional<double> F1(std::int64_t which) const;
  // Of two classes: the F1 of the second. Of more: the mean over those that have one.
  double F1() const;

  // A table of it with the labels' names, at most as wide as it must be.
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

// Of two classes: the AUC of the second's score. Of more: the mean of each against the rest, over
// those that have one. `scores` is rows × classes.
std::optional<double> Auc(std::span<const float> scores, std::span<const std::int32_t> classes,
                          std::int64_t count);

}  // namespace hogbatch
