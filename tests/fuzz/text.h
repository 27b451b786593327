// Feeds text to the readers of LIBSVM and CSV.
#pragma once

#include "datasets/read.h"
#include "datasets/readers/format.h"
#include "tests/fuzz/fuzz.h"

namespace hogbatch {

// A wrong shape would be read out of bounds later, so it ends the fuzzer here.
inline void CheckShape(const Dataset& data) {
  const auto rows = static_cast<std::size_t>(data.rows);
  if (!data.is_sparse) {
    Check(data.dense.size() == rows * static_cast<std::size_t>(data.features), "dense shape");
    return;
  }
  Check(data.offsets.size() == rows + 1, "offsets of rows");
  Check(data.offsets.back() == static_cast<std::int64_t>(data.values.size()), "offsets of values");
  Check(data.columns.size() == data.values.size(), "a column for a value");
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::int64_t i = data.offsets[row]; i < data.offsets[row + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      Check(data.columns[at] >= 0 && data.columns[at] < data.features, "a column in range");
      Check(i == data.offsets[row] || data.columns[at] > data.columns[at - 1], "ascending columns");
    }
  }
}

// The first byte chooses options, so that all of them meet all texts. Texts of the other format are
// left to the other target.
inline int FuzzText(FileFormat format, const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return -1;
  const unsigned choice = bytes[0];
  const std::string_view text = TextOf(bytes, size).substr(1);
  if (DetectFormat(text) != format) return -1;
  ReadOptions options;
  options.threads = 1;
  options.scaling = static_cast<ScalingKind>(choice % 5);
  if ((choice & 0x20) != 0) options.label = "first";
  if ((choice & 0x40) != 0) options.positive = "1";
  const ParseSettings settings{
      .threads = 1, .chunk_bytes = (choice & 0x80) != 0 ? 8U : 1U << 20, .memory_bytes = 1 << 24};
  const auto input = [&] {
    return TextInput{.text = OpenBytes(text, "in", 1 << 20), .source = "in"};
  };
  return ReadOrRefused([&] {
    const TrainingData train = ReadTrainingText(input(), options, settings);
    CheckShape(train.data);
    const Dataset again =
        ReadTextWithSchema(input(), train.schema, Labels::kRequired, {}, settings);
    CheckShape(again);
    Check(again.rows == train.data.rows, "the same rows again");
  });
}

}  // namespace hogbatch
