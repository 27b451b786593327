// What is in a file of data, as text and as JSON.
#pragma once

#include <string>

#include "datasets/dataset.h"

namespace hogbatch {

std::string DataText(const TrainingData& training);
std::string DataJson(const TrainingData& training);

}  // namespace hogbatch
