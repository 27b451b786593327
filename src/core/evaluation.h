// What an evaluation counts, as a value that messages carry.
#pragma once

#include <cstdint>

namespace hogbatch {

// Sums over rows, so that the parts of several workers add up to the whole.
struct EvaluationSums {
  std::int64_t rows = 0;
  double loss = 0;
  std::int64_t correct = 0;  // softmax: rows whose largest output is their class
  double hits_at[3] = {0, 0,
                       0};   // sigmoid: Σ rows of (labels among the 1, 3, 5 largest) / (1, 3, 5)
  double squared_error = 0;  // squared: Σ rows of the mean over outputs

  EvaluationSums& operator+=(const EvaluationSums& other) {
    rows += other.rows;
    loss += other.loss;
    correct += other.correct;
    for (int i = 0; i < 3; ++i) hits_at[i] += other.hits_at[i];
    squared_error += other.squared_error;
    return *this;
  }
  double mean_loss() const { return loss / static_cast<double>(rows); }
};

}  // namespace hogbatch
