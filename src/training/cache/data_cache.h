// Data sets as they were read and encoded, so that the next start need not parse them again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "datasets/dataset.h"

namespace hogbatch {

// What a file of this name would hold: a hash of the bytes of all files, and of the options that
// decide how they are read. None if they cannot be read twice, or have fewer than `least_bytes`,
// which are read at once.
inline constexpr std::uintmax_t kLeastCached = std::uintmax_t{4} << 20;
std::optional<std::string> DataKey(const std::string& data, const ReadOptions& options,
                                   std::uintmax_t least_bytes = kLeastCached);

class DataCache {
 public:
  explicit DataCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // None if it is not there, damaged, or of another version. What only `data info` shows of a
  // file, TrainingData::detected and columns, is not in it. The arrays are mapped.
  std::optional<TrainingData> Load(const std::string& key, std::int64_t memory_bytes) const;
  // The same for data that is larger than memory: no more than `most_resident` bytes of it are in
  // memory at a time.
  std::optional<TrainingData> LoadStream(const std::string& key, std::size_t most_resident) const;

  // Nothing happens if it cannot be written.
  void Store(const std::string& key, const TrainingData& data) const noexcept;

  // Where the file of a key is written. Makes the folder, and room in it: the files that were not
  // used for the longest time are removed if all of them take too much. None: it is not to be used.
  std::optional<std::filesystem::path> PlaceFor(const std::string& key, std::uintmax_t bytes) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path PathOf(const std::string& key) const;
  std::optional<TrainingData> LoadMapped(const std::string& key, std::size_t most_resident) const;

  std::filesystem::path folder_;
};

}  // namespace hogbatch
