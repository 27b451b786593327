// Data sets as they were read and encoded, so that the next start need not parse them again. A file
// holds one: a line of JSON with the schema and the sizes, then the arrays, each with a checksum.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "datasets/dataset.h"

namespace hogbatch {

// What a file of this name would hold: a hash of the bytes of all files, and of the options that
// decide how they are read. None if they cannot be read twice, or are too small to be kept.
std::optional<std::string> DataKey(const std::string& data, const ReadOptions& options);

class DataCache {
 public:
  explicit DataCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // None if it is not there, damaged, or of another version. What only `data info` shows of a
  // file, TrainingData::detected and columns, is not in it.
  std::optional<TrainingData> Load(const std::string& key, std::int64_t memory_bytes) const;
  // Nothing happens if it cannot be written. The files that were not used for the longest time are
  // removed if all of them take too much.
  void Store(const std::string& key, const TrainingData& data) const noexcept;

 private:
  std::filesystem::path PathOf(const std::string& key) const;

  std::filesystem::path folder_;
};

// The parts of a file.
std::string CacheHeader(const std::string& key, const TrainingData& data);
// UserError for anything that is not as Store writes it.
TrainingData ParseCache(std::span<const std::byte> file, std::string_view key);

}  // namespace hogbatch
