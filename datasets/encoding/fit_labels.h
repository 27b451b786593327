// Converts labels to the kind that --loss is for.
#pragma once

#include "datasets/dataset.h"

namespace hogbatch {

// For kValue, classes whose names are numbers become numbers; for kMultiLabel, the class of a row
// becomes its only label. UserError if the labels cannot be converted; the caller adds the option.
void FitLabels(LabelKind wanted, TrainingData& training);

}  // namespace hogbatch
