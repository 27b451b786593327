// Rows on disk in buckets, so that many more of them than memory holds can be brought into random
// order: each goes into a bucket at random, and each bucket is shuffled in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/random.h"
#include "datasets/dataset.h"
#include "training/cache/cache_writer.h"

namespace hogbatch {

class RowSpill {
 public:
  // The files have no names and vanish with this object, or with the process.
  RowSpill(const std::filesystem::path& folder, std::size_t buckets, std::size_t buffer_bytes);
  ~RowSpill();
  RowSpill(const RowSpill&) = delete;
  RowSpill& operator=(const RowSpill&) = delete;

  std::size_t buckets() const { return buckets_.size(); }
  std::int64_t rows() const { return rows_; }
  // Of each array, so far, without the 0 that offsets begin with.
  const CacheCounts& counts() const { return counts_; }

  // Adds a row of a data set. All of them have the same storage, features and kind of labels.
  void Add(const Dataset& data, std::int64_t row, std::size_t bucket);

  // Appends the rows of all buckets to a file, in random order. Offsets go on from `ends`.
  struct EndOffsets {
    std::int64_t values = 0;
    std::int64_t labels = 0;
  };
  void MoveTo(CacheWriter& writer, Random& random, EndOffsets& ends);

 private:
  struct Bucket {
    int file = -1;
    std::vector<std::byte> waiting = {};  // to be written
    std::vector<std::uint32_t> row_bytes = {};
    std::size_t written = 0;
  };

  template <typename T>
  void Put(Bucket& bucket, CacheArray which, const T* values, std::int64_t count);
  void Flush(Bucket& bucket);
  std::vector<std::byte> Read(Bucket& bucket);

  std::size_t buffer_bytes_;
  std::vector<Bucket> buckets_;
  std::int64_t rows_ = 0;
  CacheCounts counts_;
};

}  // namespace hogbatch
