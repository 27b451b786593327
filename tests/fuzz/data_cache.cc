#include "training/cache/data_cache.h"

#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    CheckShape(ParseCache({reinterpret_cast<const std::byte*>(bytes), size}, "key").data);
  });
}
