#include "datasets/text/unpack.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  constexpr std::size_t kMost = 1 << 16;
  return ReadOrRefused([&] {
    Check(UnpackGzip(TextOf(bytes, size), "in", kMost).size() <= kMost, "no more than allowed");
  });
}
