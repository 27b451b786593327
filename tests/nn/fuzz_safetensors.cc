// Any bytes at all are either read or refused with a sentence for the user.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/error.h"
#include "nn/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto tensors =
        hogbatch::ParseSafeTensors(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
    std::size_t floats = 0;
    for (const auto& [name, tensor] : tensors.tensors) floats += tensor.data.size();
    if (floats * sizeof(float) > size) std::abort();  // more numbers than there were bytes
  } catch (const hogbatch::UserError&) {
  }
  return 0;
}
