// The text of a file. A plain file stays on disk and is read piece by piece, so that memory holds
// only what is being parsed; all else is in memory, decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/readers/unpack.h"

namespace hogbatch {

class TextSource {
 public:
  virtual ~TextSource() = default;

  // Bytes, without a byte-order mark.
  virtual std::size_t size() const = 0;
  // `count` bytes from `begin` on, or as many as there are. They stay as long as the source and
  // `window`, which may hold them. Thread-safe. UserError if the file has become shorter meanwhile.
  virtual std::string_view Read(std::size_t begin, std::size_t count, Bytes& window) const = 0;
};

// Opens a plain, gzip, xz, bzip2 or zstd file, told apart by their first bytes. Missing, empty,
// damaged or truncated files and those that decompress to more than `max_bytes` are UserErrors, and
// so are devices and pipes that no program writes to.
std::unique_ptr<TextSource> OpenText(const std::string& path, std::size_t max_bytes);

// The same for bytes in memory, which must outlive the result; `source` names them in errors.
std::unique_ptr<TextSource> OpenBytes(std::string_view bytes, const std::string& source,
                                      std::size_t max_bytes);

// The most that one data set may take: `asked` bytes (--memory-limit), or, if that is 0, half of
// the memory that this process may use.
std::size_t MemoryBudget(std::int64_t asked);

}  // namespace hogbatch
