// The text of a file. A plain file stays on disk and is read piece by piece, so that memory holds
// only what is being parsed; all else is in memory, decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/text/unpack.h"

namespace hogbatch {

// Where a part of a text comes from.
struct TextOrigin {
  std::string source;          // names the file in errors
  std::size_t begin = 0;       // of the part, in bytes of the text
  std::size_t first_line = 1;  // its number in the file
  bool has_columns = true;     // false: the text was made from the file, line by line
};

class TextSource {
 public:
  virtual ~TextSource() = default;

  // Bytes, without a byte-order mark.
  virtual std::size_t size() const = 0;
  // `count` bytes from `begin` on, or as many as there are. They stay as long as the source and
  // `window`, which may hold them. Thread-safe. UserError if the file has become shorter meanwhile.
  virtual std::string_view Read(std::size_t begin, std::size_t count, Bytes& window) const = 0;
  // Memory that the source itself takes: none where the text stays on disk.
  virtual std::size_t held_bytes() const { return 0; }
  // Of the part with byte `at`; `source` names the text as a whole.
  virtual TextOrigin OriginOf(std::size_t at, std::string_view source) const;
};

// Opens a plain, gzip, xz, bzip2 or zstd file, told apart by their first bytes; - is standard
// input. Missing, empty, damaged or truncated files and those that decompress to more than
// `max_bytes` are UserErrors, and so are UTF-16, devices and pipes that no program writes to. Lines
// may end with \r alone: they end with \n in the text.
std::unique_ptr<TextSource> OpenText(const std::string& path, std::size_t max_bytes);

// The same for bytes in memory, which must outlive the result; `source` names them in errors.
std::unique_ptr<TextSource> OpenBytes(std::string_view bytes, const std::string& source,
                                      std::size_t max_bytes);

// What every text begins with: UserError for UTF-16; a byte-order mark is skipped.
std::string_view CheckedBeginning(std::string_view head, const std::string& source);

// Text in memory that belongs to the caller.
std::unique_ptr<TextSource> ViewText(std::string_view text);

// The most that one data set may take: `asked` bytes (--memory-limit), or, if that is 0, half of
// the memory that this process may use.
std::size_t MemoryBudget(std::int64_t asked);

}  // namespace hogbatch
