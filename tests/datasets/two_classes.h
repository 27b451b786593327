// Five rows of two classes, the last of them for validation.
#pragma once

#include "datasets/dataset.h"

namespace hogbatch {

inline TrainingData TwoClasses() {
  TrainingData training;
  training.schema.label_names = {"-1", "1"};
  training.data.rows = 5;
  training.data.classes = {0, 0, 0, 1, 1};
  training.train_rows = 4;
  return training;
}

}  // namespace hogbatch
