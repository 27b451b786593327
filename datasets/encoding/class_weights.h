// How much a row of each class counts in the loss.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"

namespace hogbatch {

// Weights of the classes (or of the positive terms of the labels) from "none", "balanced" or
// "LABEL=WEIGHT,…"; empty for "none". Balanced weights are learnt from the first `train_rows` rows.
std::vector<float> ParseClassWeights(std::string_view text, const Schema& schema,
                                     const Dataset& data, std::int64_t train_rows);

// UserError for text that is wrong for any labels.
void CheckClassWeights(std::string_view text);

// Divides the weights of rows by their mean, that of training rows and of validation rows, so that
// learning rates and losses mean the same as without weights. UserError if all of them are 0.
void NormalizeRowWeights(TrainingData& training);

}  // namespace hogbatch
