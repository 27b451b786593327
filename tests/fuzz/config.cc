#include "cli/options/config.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    const std::vector<std::string> commands = {"train", "eval", "compare"};
    ParseConfig(TextOf(bytes, size), "in", "train", commands);
  });
}
