// How much a model needs each column: the loss with the column's values in random order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/predict.h"

namespace hogbatch {

struct ColumnImportance {
  std::string name;       // of a column, or the number of a feature
  double loss_added = 0;  // when its values are shuffled
};

// The most important first. Of many rows a random part is used. UserError for more than 5,000
// columns.
std::vector<ColumnImportance> MeasureImportance(const std::vector<DeviceChoice>& devices,
                                                const SavedModel& model, const Dataset& data);

}  // namespace hogbatch
