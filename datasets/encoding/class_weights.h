// How much a row of each class counts in the loss.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/options.h"
#include "datasets/dataset.h"

namespace hogbatch {

inline constexpr const char* kNoClassWeights = "none";

// What --class-weights takes, the default first.
Words ClassWeightWords();

// Whether the text asks for weights; an empty one does not.
bool WeighsClasses(std::string_view text);

// Weights of the classes (or of the positive terms of the labels) from one of the words or
// "LABEL=WEIGHT,…"; empty if none are asked for. Balanced weights are learnt from the first
// `train_rows` rows.
std::vector<float> ParseClassWeights(std::string_view text, const Schema& schema,
                                     const Dataset& data, std::int64_t train_rows);

// UserError for text that is wrong for any labels.
void CheckClassWeights(std::string_view text);

// Divides the weights of rows by their mean, that of training rows and of validation rows, so that
// learning rates and losses mean the same as without weights. UserError if all of them are 0.
void NormalizeRowWeights(TrainingData& training);

}  // namespace hogbatch
