// The IDX reader, as images and labels. The first byte chooses the scaling, the second says where
// the labels begin.
#include <algorithm>

#include "datasets/read.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  if (size < 4) return -1;
  const std::string_view text = TextOf(bytes, size).substr(2);
  const std::size_t cut = std::clamp<std::size_t>(bytes[1], 1, text.size() - 1);
  ReadOptions options;
  options.threads = 1;
  options.scaling = static_cast<ScalingKind>(bytes[0] % 5);
  return ReadOrRefused([&] {
    TextInput input{.text = OpenBytes(text.substr(0, cut), "in", 1 << 20), .source = "in"};
    input.labels = OpenBytes(text.substr(cut), "labels", 1 << 20);
    input.label_source = "labels";
    const TrainingData read = ReadTrainingText(
        std::move(input), options, {.threads = 1, .chunk_bytes = 8, .memory_bytes = 1 << 24});
    const Dataset& data = read.data;
    const std::size_t stored = data.is_sparse ? data.values.size() : data.dense.size();
    Check(data.rows > 0 && stored <= static_cast<std::size_t>(data.rows * data.features),
          "rows hold what the header says");
  });
}
