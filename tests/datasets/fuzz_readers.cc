// Feeds any bytes to the readers: whatever they hold, they are read or refused with a UserError.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "datasets/read.h"

namespace {

// A wrong shape would be read out of bounds later, so it ends the fuzzer here.
void CheckShape(const hogbatch::Dataset& data) {
  using hogbatch::Check;
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  // The first byte chooses options, so that all of them meet all texts.
  const unsigned choice = bytes[0];
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  hogbatch::ReadOptions options;
  options.scaling = static_cast<hogbatch::ScalingKind>(choice % 5);
  if ((choice & 0x20) != 0) options.label = "first";
  if ((choice & 0x40) != 0) options.positive = "1";
  const hogbatch::ParseSettings settings{.threads = 1,
                                         .chunk_bytes = (choice & 0x80) != 0 ? 8U : 1U << 20};
  try {
    const hogbatch::TrainingData train =
        hogbatch::ReadTrainingText(hogbatch::InputFromBytes(text, "in"), options, settings);
    CheckShape(train.data);
    const hogbatch::Dataset again = hogbatch::ReadTextWithSchema(
        hogbatch::InputFromBytes(text, "in"), train.schema, hogbatch::Labels::kRequired, settings);
    CheckShape(again);
    hogbatch::Check(again.rows == train.data.rows, "the same rows again");
  } catch (const hogbatch::UserError&) {
    // The one legal refusal; Check's Error ends the fuzzer.
  }
  return 0;
}
