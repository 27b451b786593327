// The text of a file: memory-mapped if it is a plain file, else in memory and decompressed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace hogbatch {

class TextSource {
 public:
  virtual ~TextSource() = default;
  virtual std::string_view text() const = 0;  // without a byte-order mark
};

// Opens a plain, gzip or xz file, told apart by their first bytes. Missing, empty, damaged or
// truncated files and those that decompress to more than `max_bytes` are UserErrors.
std::unique_ptr<TextSource> OpenText(const std::string& path, std::size_t max_bytes);

// The same for bytes in memory, which must outlive the result; `source` names them in errors.
std::unique_ptr<TextSource> OpenBytes(std::string_view bytes, const std::string& source,
                                      std::size_t max_bytes);

// Half of the physical memory: the most that one data set may take.
std::size_t MemoryBudget();

}  // namespace hogbatch
