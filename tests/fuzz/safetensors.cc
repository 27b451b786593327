// The file format of models and checkpoints.
#include "nn/safetensors.h"

#include <span>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    const SafeTensors file =
        ParseSafeTensors(std::as_bytes(std::span(bytes, size)), "in", TensorFileKind::kCheckpoint);
    std::size_t read = 0;
    for (const auto& [name, tensor] : file.tensors) {
      read += tensor.data.size() * sizeof(float) + tensor.integers.size() * sizeof(std::int64_t);
    }
    Check(read <= size, "no more numbers than there were bytes");
  });
}
