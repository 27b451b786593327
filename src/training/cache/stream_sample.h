// What columns, labels and scaling are, learnt from part of a file that is larger than memory.
#pragma once

#include <cstddef>
#include <string>

#include "datasets/dataset.h"

namespace hogbatch {

struct LearntSample {
  TrainingData sample;  // its rows too
  bool is_whole = false;
};

// Reads all of the text and keeps pieces from everywhere in it, `most_bytes` in all. `data` as in
// InputFiles. All rows of the sample are for training.
LearntSample LearnFromSample(const std::string& data, const ReadOptions& options,
                             std::size_t most_bytes);

}  // namespace hogbatch
