// Writes the file of a data set, array by array or all arrays a piece at a time.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/replaced_file.h"
#include "training/cache/cache_format.h"

namespace hogbatch {

class CacheWriter {
 public:
  // Of `data`, which must outlive it, all but the arrays is written. `counts` has how many values
  // each array is going to have.
  CacheWriter(const std::string& path, std::string key, const TrainingData& data,
              const CacheCounts& counts);

  // The next values of an array.
  template <typename T>
  void Append(CacheArray which, std::span<const T> values) {
    AppendBytes(parts_[which], std::as_bytes(values));
  }

  // Error if an array has not got all its values.
  void Commit();

 private:
  struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  struct Part {
    std::size_t at = 0;   // in the file, of the next byte to write
    std::size_t end = 0;  // in the file
    std::unique_ptr<XXH3_state_t, FreeState> checksum = {};
    std::vector<std::byte> waiting = {};  // to be written
  };

  void AppendBytes(Part& part, std::span<const std::byte> bytes);
  void Flush(Part& part);

  std::string key_;
  const TrainingData& data_;
  StoredArrays arrays_;
  IndexedArray<CacheArray, Part, kCacheArrays> parts_;
  std::size_t size_ = 0;  // of the file
  ReplacedFile file_;
};

}  // namespace hogbatch
