// Feeds any bytes to the IDX reader, as images and labels: they are read or refused with a
// UserError.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "datasets/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 4) return 0;
  // The first byte chooses the scaling, the second says where the labels begin.
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  const std::size_t cut = std::clamp<std::size_t>(bytes[1], 1, text.size() - 1);
  hogbatch::ReadOptions options;
  options.scaling = static_cast<hogbatch::ScalingKind>(bytes[0] % 5);
  try {
    const hogbatch::TrainingData read = hogbatch::ReadTrainingText(
        hogbatch::InputFromBytes(text.substr(0, cut), text.substr(cut), "in"), options,
        {.threads = 1, .chunk_bytes = 8});
    const hogbatch::Dataset& data = read.data;
    const std::size_t stored = data.is_sparse ? data.values.size() : data.dense.size();
    hogbatch::Check(data.rows > 0 && stored <= static_cast<std::size_t>(data.rows * data.features),
                    "rows hold what the header says");
  } catch (const hogbatch::UserError&) {
    // The one legal refusal; Check's Error ends the fuzzer.
  }
  return 0;
}
