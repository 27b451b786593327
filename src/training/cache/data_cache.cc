#include "training/cache/data_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/guard/cache_folder.h"
#include "core/guard/json_text.h"
#include "core/replaced_file.h"
#include "datasets/input_files.h"
#include "datasets/readers/idx_reader.h"
#include "datasets/text/descriptor.h"
#include "datasets/text/text_source.h"
#include "training/checksum.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kFormat = 1;
constexpr std::string_view kMagic = "hogbatch data\n";
constexpr std::size_t kArrayAlignment = 64;
constexpr std::uintmax_t kLeastBytes = std::uintmax_t{4} << 20;  // smaller files are read at once
constexpr std::uintmax_t kMostBytes = std::uintmax_t{20} << 30;  // of all files in the folder

std::size_t Aligned(std::size_t bytes) {
  return (bytes + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

// Calls `use(name, array)` for every array of a data set, in the order of the file.
template <typename Data, typename Use>
void ForEachArray(Data& data, const Use& use) {
  use("dense", data.dense);
  use("offsets", data.offsets);
  use("columns", data.columns);
  use("values", data.values);
  use("classes", data.classes);
  use("label_offsets", data.label_offsets);
  use("labels", data.labels);
  use("targets", data.targets);
}

void Require(bool condition, const char* what) {
  if (!condition) throw UserError(fmt::format("the cache is damaged: {}", what));
}

void CheckOffsets(const std::vector<std::int64_t>& offsets, std::int64_t rows, std::size_t values) {
  Require(std::ssize(offsets) == rows + 1 && offsets.front() == 0, "offsets");
  Require(std::ranges::is_sorted(offsets), "the order of offsets");
  Require(offsets.back() == static_cast<std::int64_t>(values), "the end of offsets");
}

void CheckBelow(const std::vector<std::int32_t>& numbers, std::int64_t bound) {
  Require(std::ranges::all_of(numbers,
                              [&](std::int32_t number) { return number >= 0 && number < bound; }),
          "an index");
}

// Whoever reads the rows trusts their shape.
void CheckShape(const TrainingData& result) {
  const Dataset& data = result.data;
  Require(data.rows > 0 && result.train_rows > 0 && result.train_rows <= data.rows, "rows");
  Require(data.rows < std::int64_t{1} << 40 && data.features > 0, "its size");
  if (data.is_sparse) {
    CheckOffsets(data.offsets, data.rows, data.values.size());
    Require(data.columns.size() == data.values.size() && data.dense.empty(), "values");
    CheckBelow(data.columns, data.features);
  } else {
    Require(data.rows <= std::ssize(data.dense) / data.features &&
                std::ssize(data.dense) == data.rows * data.features && data.values.empty(),
            "values");
  }
  switch (result.schema.label_kind) {
    case LabelKind::kClass:
      Require(std::ssize(data.classes) == data.rows, "classes");
      CheckBelow(data.classes, result.schema.outputs());
      break;
    case LabelKind::kMultiLabel:
      CheckOffsets(data.label_offsets, data.rows, data.labels.size());
      CheckBelow(data.labels, result.schema.outputs());
      break;
    case LabelKind::kValue:
      Require(std::ssize(data.targets) == data.rows, "targets");
  }
}

// A file that is mapped while it is copied. It is this user's own, and replaced only whole.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return;
    struct stat status{};
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
      ::futimens(file, nullptr);  // it was used now
    }
    ::close(file);
  }
  ~MappedFile() {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const {
    if (data_ == MAP_FAILED) return {};
    return {static_cast<const std::byte*>(data_), size_};
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
};

void AddFile(const std::string& path, XXH3_state_t& state) {
  const Descriptor file(path);
  std::vector<char> window(std::size_t{1} << 20);
  while (const std::size_t count = ReadSome(file, path, window, Place::kLater)) {
    XXH3_128bits_update(&state, window.data(), count);
  }
}

std::string OptionsText(const ReadOptions& options) {
  const Json json = {{"cache_format", kFormat},
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
                     {"hash_bits", options.hash_bits}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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

std::optional<std::string> DataKey(const std::string& data, const ReadOptions& options) {
  if (data.empty()) return std::nullopt;
  std::vector<std::string> files = InputFiles(data);
  std::error_code error;
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    if (!fs::is_regular_file(file, error)) return std::nullopt;
    bytes += fs::file_size(file, error);
  }
  if (error || bytes < kLeastBytes) return std::nullopt;
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

std::string CacheHeader(const std::string& key, const TrainingData& data) {
  Json json = {{"format", kFormat},
               {"key", key},
               {"source", data.data.source},
               {"rows", data.data.rows},
               {"train_rows", data.train_rows},
               {"is_sparse", data.data.is_sparse},
               {"notes", data.data.notes},
               {"schema", SchemaToJson(data.schema)}};
  ForEachArray(data.data, [&](const char* name, const auto& array) {
    json["arrays"][name] = {{"count", array.size()},
                            {"checksum", Checksum(std::as_bytes(std::span(array)))}};
  });
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string header = fmt::format("{}{:16x}\n{}", kMagic, text.size(), text);
  header.resize(Aligned(header.size()), '\n');
  return header;
}

TrainingData ParseCache(std::span<const std::byte> file, std::string_view key) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const std::size_t begin = kMagic.size() + 17;
  Require(text.starts_with(kMagic) && text.size() >= begin, "its beginning");
  std::size_t size = 0;
  std::string_view digits = text.substr(kMagic.size(), 16);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  const char* const end = digits.data() + digits.size();
  const auto [read, problem] = std::from_chars(digits.data(), end, size, 16);
  Require(problem == std::errc() && read == end && size <= text.size() - begin, "its length");
  const auto json = ParseJson<Json>(text.substr(begin, size));
  Require(json.is_object(), "its header");
  TrainingData result;
  try {
    Require(json.at("format") == kFormat && json.at("key") == key, "another file's");
    result.schema = SchemaFromJson(json.at("schema").get<std::string>());
    result.data.source = json.at("source");
    result.data.rows = json.at("rows");
    result.data.features = result.schema.features;
    result.data.is_sparse = json.at("is_sparse");
    result.data.notes = json.at("notes").get<std::vector<std::string>>();
    result.train_rows = json.at("train_rows");
    std::size_t at = Aligned(begin + size);
    ForEachArray(result.data, [&](const char* name, auto& array) {
      using Value = typename std::remove_reference_t<decltype(array)>::value_type;
      const Json& facts = json.at("arrays").at(name);
      const auto count = facts.at("count").get<std::size_t>();
      Require(at <= file.size() && count <= (file.size() - at) / sizeof(Value), "an array");
      const auto bytes = file.subspan(at, count * sizeof(Value));
      Require(facts.at("checksum") == Checksum(bytes), "a checksum");
      array.resize(count);
      if (count > 0) std::memcpy(array.data(), bytes.data(), bytes.size());
      at = Aligned(at + bytes.size());
    });
  } catch (const Json::exception&) {
    Require(false, "a field");
  }
  CheckShape(result);
  return result;
}

fs::path DataCache::PathOf(const std::string& key) const { return folder_ / (key + ".data"); }

std::optional<TrainingData> DataCache::Load(const std::string& key,
                                            std::int64_t memory_bytes) const {
  const fs::path path = PathOf(key);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > MemoryBudget(memory_bytes) || !WhyNoCache(folder_).empty()) {
    return std::nullopt;
  }
  try {
    return ParseCache(MappedFile(path).bytes(), key);
  } catch (const UserError&) {
    fs::remove(path, error);  // it is written again
    return std::nullopt;
  }
}

void DataCache::Store(const std::string& key, const TrainingData& data) const noexcept {
  try {
    if (!OpenCacheFolder(folder_)) return;
    const std::string header = CacheHeader(key, data);
    MakeRoom(folder_, header.size() + static_cast<std::uintmax_t>(data.data.bytes()));
    ReplacedFile file(PathOf(key).string());
    file.Write(std::as_bytes(std::span(header)));
    ForEachArray(data.data, [&](const char*, const auto& array) {
      const auto bytes = std::as_bytes(std::span(array));
      constexpr std::byte kZeros[kArrayAlignment] = {};
      file.Write(bytes);
      file.Write(std::span(kZeros).first(Aligned(bytes.size()) - bytes.size()));
    });
    file.Commit(ReplacedFile::Sync::kNo);
  } catch (const std::exception&) {  // a full disk: the data is read again next time
  }
}

}  // namespace hogbatch
