// Reads a data set from text in memory, for tests, the fuzzer and benchmarks. All others read files
// through dataset.h.
#pragma once

#include "datasets/dataset.h"
#include "datasets/open_input.h"
#include "datasets/readers/parsed_file.h"
#include "datasets/schema.h"

namespace hogbatch {

TrainingData ReadTrainingText(TextInput input, const ReadOptions& options,
                              const ParseSettings& settings);
TrainingData ReadTextToGoOn(TextInput input, const Schema& schema, const ReadOptions& options,
                            const ParseSettings& settings);
Dataset ReadTextWithSchema(TextInput input, const Schema& schema, Labels labels,
                           const ReadOptions& options, const ParseSettings& settings);

}  // namespace hogbatch
