#include "tests/fuzz/text.h"
#include "training/cache/cache_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    CheckShape(ParseCache({reinterpret_cast<const std::byte*>(bytes), size}, "key").data);
  });
}
