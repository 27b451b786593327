// Labels as the loss that the user asked for wants them.
#pragma once

#include <string>

#include "datasets/dataset.h"

namespace hogbatch {

// Makes the labels those that --loss asks for: classes named by numbers become numbers for
// "squared", and a class a row becomes one label a row for "sigmoid". UserError where that makes no
// sense.
void FitLabels(const std::string& loss, TrainingData& training);

}  // namespace hogbatch
