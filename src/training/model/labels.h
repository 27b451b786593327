// Converts a network's outputs to labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/schema.h"
#include "nn/metric_values.h"
#include "nn/model_spec.h"

namespace hogbatch {

// Raw outputs as probabilities, or as numbers on the label's own scale.
std::vector<float> OutputValues(const Schema& schema, Loss loss, std::span<const float> outputs);

// For the metrics of a network whose labels the schema describes.
MetricScale ScaleOf(const ModelSpec& model, const Schema& schema);

// Which labels a prediction names.
struct LabelChoice {
  // This many of the most probable ones; 0: the most probable class, or all labels that reach the
  // threshold, and at least one.
  std::int64_t top = 0;
  // Of a label's probability; with two classes, that of the second one. 0: one half.
  double threshold = 0;
};

// The labels of a row with probabilities `values`, the most probable first.
std::vector<std::string> ChosenLabels(const Schema& schema, std::span<const float> values,
                                      const LabelChoice& choice);

std::string NumberText(float value);

// A row's prediction as text: labels separated by spaces, or the number.
std::string LabelText(const Schema& schema, std::span<const float> values,
                      const LabelChoice& choice = {});

}  // namespace hogbatch
