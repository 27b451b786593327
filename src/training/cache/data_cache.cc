#include "training/cache/data_cache.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/guard/cache_folder.h"
#include "core/guard/json_text.h"
#include "datasets/input_files.h"
#include "datasets/readers/idx_reader.h"
#include "datasets/text/descriptor.h"
#include "datasets/text/text_source.h"
#include "training/cache/cache_format.h"
#include "training/cache/cache_writer.h"
#include "training/cache/mapped_file.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{20} << 30;  // of all files in the folder

void AddFile(const std::string& path, XXH3_state_t& state) {
  const Descriptor file(path);
  std::vector<char> window(std::size_t{1} << 20);
  while (const std::size_t count = ReadSome(file, path, window, PipePosition::kLater)) {
    XXH3_128bits_update(&state, window.data(), count);
  }
}

std::string OptionsText(const ReadOptions& options) {
  Json json = {{"cache_format", kCacheFormat},
               {"format", static_cast<int>(options.format)},
               {"label", options.label},
               {"positive", options.positive},
               {"task", Name(options.task)},
               {"scaling", Name(options.scaling)},
               {"valid_fraction", options.valid_fraction},
               {"split_by", options.split_by},
               {"split_time", options.split_time},
               {"seed", options.seed},
               {"categorical", options.categorical},
               {"ignore", options.ignore},
               {"keep", options.keep},
               {"hash_bits", options.hash_bits},
               {"weight", options.weight}};
  if (options.fold) json["fold"] = {options.fold.number, options.fold.of};
  return JsonText(json);
}

// Removes the files that were not used for the longest time.
void MakeRoom(const fs::path& folder, std::uintmax_t needed) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::uintmax_t used = needed;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::uintmax_t bytes = entry.file_size(error);
    if (error) continue;  // another run has removed it
    files.emplace_back(entry.last_write_time(error), entry.path());
    used += bytes;
  }
  std::ranges::sort(files);
  for (const auto& [time, path] : files) {
    if (used <= kMostBytes) return;
    used -= fs::file_size(path, error);
    fs::remove(path, error);
  }
}

}  // namespace

std::optional<std::string> DataKey(const std::string& data, const ReadOptions& options,
                                   std::uintmax_t least_bytes) {
  if (data.empty()) return std::nullopt;
  std::vector<std::string> files = InputFiles(data);
  std::error_code error;
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    if (!fs::is_regular_file(file, error)) return std::nullopt;
    bytes += fs::file_size(file, error);
  }
  if (error || bytes < least_bytes) return std::nullopt;
  // The labels of an IDX file are in a file of their own.
  const IdxLabelFile labels = FindIdxLabels(files.front());
  if (!options.labels.empty()) {
    files.push_back(options.labels);
  } else if (labels.found) {
    files.push_back(*labels.found);
  }
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  if (!state) return std::nullopt;
  XXH3_128bits_reset(state.get());
  const std::string text = OptionsText(options);
  XXH3_128bits_update(state.get(), text.data(), text.size());
  for (const std::string& file : files) {
    const std::string part = fmt::format("{}\n", file);  // messages name it
    XXH3_128bits_update(state.get(), part.data(), part.size());
    AddFile(file, *state);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

fs::path DataCache::PathOf(const std::string& key) const { return folder_ / (key + ".data"); }

std::optional<TrainingData> DataCache::LoadMapped(const std::string& key,
                                                  std::size_t most_resident) const {
  if (!WhyNoCache(folder_).empty()) return std::nullopt;
  const fs::path path = PathOf(key);
  const auto file = std::make_shared<const MappedFile>(path, most_resident);
  if (file->bytes().empty()) return std::nullopt;
  try {
    return ParseCache(file->bytes(), key, file);
  } catch (const UserError&) {
    std::error_code error;
    fs::remove(path, error);  // it is written again
    return std::nullopt;
  }
}

std::optional<TrainingData> DataCache::Load(const std::string& key,
                                            std::int64_t memory_bytes) const {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(PathOf(key), error);
  if (error || size > MemoryBudget(memory_bytes)) return std::nullopt;
  return LoadMapped(key, 0);
}

std::optional<TrainingData> DataCache::LoadStream(const std::string& key,
                                                  std::size_t most_resident) const {
  return LoadMapped(key, most_resident);
}

std::optional<fs::path> DataCache::PlaceFor(const std::string& key, std::uintmax_t bytes) const {
  if (!OpenCacheFolder(folder_)) return std::nullopt;
  MakeRoom(folder_, bytes);
  return PathOf(key);
}

void DataCache::Store(const std::string& key, const TrainingData& data) const noexcept {
  try {
    const auto path = PlaceFor(key, static_cast<std::uintmax_t>(data.data.bytes()));
    if (!path) return;
    CacheCounts counts;
    ForEachArray(data.data,
                 [&](CacheArray which, const auto& array) { counts[which] = array.size(); });
    CacheWriter writer(path->string(), key, data, counts);
    ForEachArray(data.data, [&](CacheArray which, const auto& array) {
      writer.Append(which, std::span(array));
    });
    writer.Commit();
  } catch (const std::exception&) {  // a full disk: the data is read again next time
  }
}

}  // namespace hogbatch
