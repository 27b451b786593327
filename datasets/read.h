// Reads a data set from text in memory, for tests, the fuzzer and benchmarks. All others read files
// through dataset.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/readers/parsed_file.h"
#include "datasets/readers/text_source.h"
#include "datasets/schema.h"

namespace hogbatch {

struct TextInput {
  std::unique_ptr<TextSource> text;         // freed as soon as the rows are parsed
  std::string source;                       // names it in errors
  std::unique_ptr<TextSource> labels = {};  // of an IDX file; null: it has none
  std::string label_source = {};
  std::vector<CategoricalColumn> categorical = {};
};

// `bytes`, plain or compressed, must outlive the result.
TextInput InputFromBytes(std::string_view bytes, const std::string& source);
// An IDX file and the one with its labels, "SOURCE labels" in errors.
TextInput InputFromBytes(std::string_view bytes, std::string_view labels,
                         const std::string& source);

TrainingData ReadTrainingText(TextInput input, const ReadOptions& options,
                              const ParseSettings& settings);
TrainingData ReadTextToGoOn(TextInput input, const Schema& schema, const ReadOptions& options,
                            const ParseSettings& settings);
Dataset ReadTextWithSchema(TextInput input, const Schema& schema, Labels labels,
                           const ParseSettings& settings);

}  // namespace hogbatch
