// A whole checkpoint file.
#include "tests/fuzz/fuzz.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/checkpoint/resumed_options.h"
#include "training/checkpoint/spec_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  static const ScratchFolder folder;
  folder.Write("in", TextOf(bytes, size));
  return ReadOrRefused([&] {
    const Checkpoint checkpoint = ReadCheckpoint(folder.path() + "/in");
    StartOf(checkpoint, "in");
    Validate(SpecFromJson(checkpoint.texts.options, "in"));
  });
}
