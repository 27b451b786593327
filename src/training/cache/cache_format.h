// The file of a data set as it was read and encoded: a line of JSON with the schema and the sizes,
// then the arrays, each with a checksum.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/indexed_vector.h"
#include "datasets/dataset.h"

namespace hogbatch {

// Goes up when a reader of the older format would be misled.
inline constexpr int kCacheFormat = 3;

// The arrays in the order of the file.
enum class CacheArray : std::uint8_t {
  kDense,
  kOffsets,
  kColumns,
  kValues,
  kClasses,
  kLabelOffsets,
  kLabels,
  kTargets,
  kWeights,
};
inline constexpr std::size_t kCacheArrays = 9;
using CacheCounts = IndexedArray<CacheArray, std::size_t, kCacheArrays>;

// Calls `use(which, array)` for every array of a data set, in the order of the file.
template <typename Data, typename Use>
void ForEachArray(Data& data, const Use& use) {
  use(CacheArray::kDense, data.dense);
  use(CacheArray::kOffsets, data.offsets);
  use(CacheArray::kColumns, data.columns);
  use(CacheArray::kValues, data.values);
  use(CacheArray::kClasses, data.classes);
  use(CacheArray::kLabelOffsets, data.label_offsets);
  use(CacheArray::kLabels, data.labels);
  use(CacheArray::kTargets, data.targets);
  use(CacheArray::kWeights, data.weights);
}

struct StoredArray {
  std::size_t count = 0;  // of its values
  std::string checksum = {};
};
using StoredArrays = IndexedArray<CacheArray, StoredArray, kCacheArrays>;

// Arrays begin at multiples of a cache line.
std::size_t AlignedSize(std::size_t bytes);

// What a file begins with. Of the data all but the arrays is used. Its length does not depend on
// the checksums.
std::string CacheHeader(const std::string& key, const TrainingData& data,
                        const StoredArrays& arrays);

// Whether the beginning of a file is that of a cache, and the key in the header of a whole one.
// UserError: it is damaged.
bool BeginsAsCache(std::span<const std::byte> file);
std::string CacheKey(std::span<const std::byte> file);

// UserError for anything that is not as it was written. The arrays stay in `file`, which `keeper`
// keeps; without a keeper they are copied.
TrainingData ParseCache(std::span<const std::byte> file, std::string_view key,
                        const std::shared_ptr<const void>& keeper = nullptr);

}  // namespace hogbatch
