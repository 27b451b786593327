#include "tests/fuzz/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return hogbatch::FuzzText(hogbatch::FileFormat::kCsv, bytes, size);
}
