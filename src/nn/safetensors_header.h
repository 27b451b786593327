// The JSON header of a safetensors file, read in one pass without a tree of its values: time and
// memory are in proportion to its length, whatever it holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nn/safetensors.h"

namespace hogbatch {

inline constexpr std::int64_t kMaxHeaderBytes = 100'000'000;  // as the reference reader
inline constexpr std::size_t kMaxTensors = std::size_t{1} << 20;

// Where a tensor's bytes lie after the header.
struct TensorExtent {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_float = true;  // F32; else I64
};

struct SafeTensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorExtent> extents;  // in the order of their bytes
};

// Checks that the tensors fill `data_bytes` without gap, overlap or remainder. Throws UserError.
SafeTensorsHeader ParseSafeTensorsHeader(std::string_view text, std::int64_t data_bytes,
                                         TensorFileKind kind, std::string_view source);

// The UserError of a file that cannot be read.
[[noreturn]] void ThrowDamagedTensors(TensorFileKind kind, std::string_view source,
                                      std::string_view what);

}  // namespace hogbatch
