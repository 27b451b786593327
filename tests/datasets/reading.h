// What the tests of the readers share: texts instead of files.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "datasets/read.h"

namespace hogbatch {

inline TrainingData Learn(std::string_view text, const ReadOptions& options = {},
                          const ParseSettings& settings = {.threads = 2}) {
  return ReadTrainingText(InputFromBytes(text, "in.txt"), options, settings);
}

// Rows as they are in the text: in order, unscaled.
inline Dataset Apply(std::string_view text, const Schema& schema,
                     Labels labels = Labels::kRequired) {
  return ReadTextWithSchema(InputFromBytes(text, "in.txt"), schema, labels, {}, {.threads = 2});
}

inline Dataset InOrder(std::string_view text, ReadOptions options = {}) {
  options.scaling = ScalingKind::kNone;
  return Apply(text, Learn(text, options).schema);
}

// Row `row` with its zeros.
inline std::vector<float> DenseRow(Dataset data, std::int64_t row) {
  ConvertStorage(data, Storage::kDense);
  const auto begin = data.dense.begin() + row * data.features;
  return {begin, begin + data.features};
}

// The sentence of the UserError that `action` throws.
template <typename Action>
std::string ErrorOf(const Action& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string LearnError(std::string_view text, const ReadOptions& options = {}) {
  return ErrorOf([&] { Learn(text, options); });
}

inline bool Begins(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix);
}

using Rows = std::vector<float>;

}  // namespace hogbatch
