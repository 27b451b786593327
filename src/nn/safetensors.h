// Files of named tensors in the safetensors format, which PyPI's `safetensors` opens: an
// 8-byte little-endian header length, a JSON header, then the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/replaced_file.h"

namespace hogbatch {

struct SafeTensors {
  struct Tensor {
    std::vector<std::int64_t> shape;
    std::vector<float> data;                  // of an F32 tensor
    std::vector<std::int64_t> integers = {};  // of an I64 tensor
  };

  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor, std::less<>> tensors;  // by name

  const Tensor* Find(std::string_view name) const;  // null: there is none of that name
};

// A tensor to be written, as F32, I32 or I64; the numbers are the caller's.
struct TensorView {
  std::string name;
  std::vector<std::int64_t> shape;
  std::variant<std::span<const float>, std::span<const std::int32_t>, std::span<const std::int64_t>>
      data;
};

// Written aside in the same folder, synced and renamed: `path` holds the old file or the whole new
// one. Refuses numbers that are not finite (Error). Bytes of names and metadata that are no UTF-8
// are replaced. A folder that cannot be written is a UserError, a full disk an Error.
void WriteSafeTensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                      std::span<const TensorView> tensors, NamedBy named_by = NamedBy::kProgram);

// The bytes of the file that WriteSafeTensors writes.
std::size_t SafeTensorsBytes(const std::map<std::string, std::string>& metadata,
                             std::span<const TensorView> tensors);

// What a file is read as. A model holds F32 alone, a checkpoint I64, too. Errors name the kind.
enum class TensorFileKind : std::uint8_t { kModel, kCheckpoint };

// Reads all tensors. Every size is checked against the bytes that are there before memory is
// allocated; any damage, and numbers that are not finite, are a UserError.
SafeTensors ReadSafeTensors(const std::string& path, TensorFileKind kind = TensorFileKind::kModel);

// The same from memory; `source` stands for the path in messages.
SafeTensors ParseSafeTensors(std::span<const std::byte> file, std::string_view source,
                             TensorFileKind kind = TensorFileKind::kModel);

}  // namespace hogbatch
