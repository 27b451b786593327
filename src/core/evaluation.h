// What an evaluation counts, as a value that messages carry.
#pragma once

#include <array>
#include <cstdint>

#include "core/state_visitor.h"

namespace hogbatch {

// Sums over rows, so that the parts of several workers add up to the whole.
struct EvaluationSums {
  std::int64_t rows = 0;
  double loss = 0;
  std::int64_t correct = 0;  // softmax: rows whose largest output is their class
  // sigmoid: Σ rows of (labels among the 1, 3, 5 largest) / (1, 3, 5)
  std::array<double, 3> hits_at = {};
  double squared_error = 0;  // squared: Σ rows of the mean over outputs

  EvaluationSums& operator+=(const EvaluationSums& other) {
    rows += other.rows;
    loss += other.loss;
    correct += other.correct;
    for (std::size_t i = 0; i < hits_at.size(); ++i) hits_at[i] += other.hits_at[i];
    squared_error += other.squared_error;
    return *this;
  }
  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "rows", rows);
    Visit(visitor, "loss", loss);
    Visit(visitor, "correct", correct);
    Visit(visitor, "hits_at", hits_at);
    Visit(visitor, "squared_error", squared_error);
  }
  double mean_loss() const { return loss / static_cast<double>(rows); }
};

}  // namespace hogbatch
