// The options of a training as a checkpoint and options.json keep them: one JSON object.
#include "tests/fuzz/fuzz.h"
#include "training/checkpoint/spec_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] { Validate(SpecFromJson(TextOf(bytes, size), "in")); });
}
