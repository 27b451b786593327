#include "datasets/text/json_lines.h"
#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  const std::string_view text = TextOf(bytes, size);
  if (!BeginsAsJson(text)) return -1;
  const ParseSettings settings{.threads = 1, .chunk_bytes = 64, .memory_bytes = 1 << 24};
  return ReadOrRefused([&] {
    ReadOptions options;
    options.threads = 1;
    const auto input = [&] { return InputFromBytes(text, "in", settings.memory_bytes); };
    const TrainingData train = ReadTrainingText(input(), options, settings);
    CheckShape(train.data);
    CheckShape(ReadTextWithSchema(input(), train.schema, Labels::kRequired, {}, settings));
  });
}
