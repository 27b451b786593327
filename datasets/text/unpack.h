// Decompresses gzip, xz, bzip2 and zstd.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace hogbatch {

// A byte buffer that grows without being cleared. realloc may move its pages instead of copying.
class Bytes {
 public:
  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  std::size_t capacity() const { return capacity_; }
  std::size_t size() const { return size_; }
  void set_size(std::size_t size) { size_ = size; }
  void Grow(std::size_t capacity);

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> data_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

// Of the names of compressed files.
inline constexpr std::array<std::string_view, 4> kPackedEndings = {".gz", ".xz", ".bz2", ".zst"};
// The one that this name has; empty: none.
std::string_view PackedEnding(std::string_view name);

enum class Packing { kNone, kGzip, kXz, kBzip2, kZstd };

// Detected from the first bytes. Throws UserError for known formats that are not supported.
Packing FindPacking(std::string_view bytes, const std::string& source);

// Decompress all members, streams or frames of a file. `source` names it in errors.
Bytes UnpackGzip(std::string_view packed, const std::string& source, std::size_t max_bytes);
Bytes UnpackXz(std::string_view packed, const std::string& source, std::size_t max_bytes);
Bytes UnpackBzip2(std::string_view packed, const std::string& source, std::size_t max_bytes);
Bytes UnpackZstd(std::string_view packed, const std::string& source, std::size_t max_bytes);

}  // namespace hogbatch
