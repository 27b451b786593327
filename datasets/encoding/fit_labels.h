// Converts labels to what --loss asks for.
#pragma once

#include <string>

#include "datasets/dataset.h"

namespace hogbatch {

// For "squared", classes whose names are numbers become numbers; for "sigmoid", the class of a row
// becomes its only label. UserError if the labels cannot be converted.
void FitLabels(const std::string& loss, TrainingData& training);

}  // namespace hogbatch
