#include "training/cache/cache_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "training/checksum.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

using CacheJson = nlohmann::ordered_json;

constexpr std::string_view kMagic = "hogbatch data\n";
constexpr std::size_t kArrayAlignment = 64;
constexpr IndexedArray<CacheArray, const char*, kCacheArrays> kArrayNames(
    {"dense", "offsets", "columns", "values", "classes", "label_offsets", "labels", "targets",
     "weights"});

void Require(bool condition, const char* what) {
  if (!condition) throw UserError(fmt::format("the cache is damaged: {}", what));
}

void CheckOffsets(std::span<const std::int64_t> offsets, std::int64_t rows, std::size_t values) {
  Require(std::ssize(offsets) == rows + 1 && offsets.front() == 0, "offsets");
  Require(std::ranges::is_sorted(offsets), "the order of offsets");
  Require(offsets.back() == static_cast<std::int64_t>(values), "the end of offsets");
}

void CheckBelow(std::span<const std::int32_t> numbers, std::int64_t bound) {
  Require(std::ranges::all_of(numbers,
                              [&](std::int32_t number) { return number >= 0 && number < bound; }),
          "an index");
}

void CheckLabels(const Dataset& data, const Schema& schema) {
  switch (schema.label_kind) {
    case LabelKind::kClass:
      Require(std::ssize(data.classes) == data.rows, "classes");
      CheckBelow(data.classes, schema.outputs());
      break;
    case LabelKind::kMultiLabel:
      CheckOffsets(data.label_offsets, data.rows, data.labels.size());
      CheckBelow(data.labels, schema.outputs());
      break;
    case LabelKind::kValue:
      Require(std::ssize(data.targets) == data.rows, "targets");
  }
}

// Readers do not check the shape again.
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
  CheckLabels(data, result.schema);
  Require(data.weights.empty() || std::ssize(data.weights) == data.rows, "weights");
}

std::string_view TextIn(std::span<const std::byte> file) {
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

// The JSON of a header, and where it ends.
std::string_view HeaderText(std::string_view file) {
  const std::size_t begin = kMagic.size() + 17;
  Require(file.starts_with(kMagic) && file.size() >= begin, "its beginning");
  std::size_t size = 0;
  std::string_view digits = file.substr(kMagic.size(), 16);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  const char* const end = digits.data() + digits.size();
  const auto [read, problem] = std::from_chars(digits.data(), end, size, 16);
  Require(problem == std::errc() && read == end && size <= file.size() - begin, "its length");
  return file.substr(begin, size);
}

template <typename T>
Array<T> MakeArray(std::span<const std::byte> bytes, const std::shared_ptr<const void>& keeper) {
  const std::size_t count = bytes.size() / sizeof(T);
  if (keeper && count > 0) return {{reinterpret_cast<const T*>(bytes.data()), count}, keeper};
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

std::size_t AlignedSize(std::size_t bytes) {
  return (bytes + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
}

std::string CacheHeader(const std::string& key, const TrainingData& data,
                        const StoredArrays& arrays) {
  CacheJson json = {{"format", kCacheFormat},        {"key", key},
                    {"source", data.data.source},    {"rows", data.data.rows},
                    {"train_rows", data.train_rows}, {"is_sparse", data.data.is_sparse},
                    {"notes", data.data.notes},      {"schema", SchemaToJson(data.schema)}};
  json["arrays"] = CacheJson::object();
  for (std::size_t i = 0; i < kCacheArrays; ++i) {
    json["arrays"][kArrayNames[i]] = {{"count", arrays[i].count}, {"checksum", arrays[i].checksum}};
  }
  const std::string text = JsonText(json);
  std::string header = fmt::format("{}{:16x}\n{}", kMagic, text.size(), text);
  header.resize(AlignedSize(header.size()), '\n');
  return header;
}

bool BeginsAsCache(std::span<const std::byte> file) { return TextIn(file).starts_with(kMagic); }

std::string CacheKey(std::span<const std::byte> file) {
  const auto json = ParseJson<CacheJson>(HeaderText(TextIn(file)));
  Require(json.is_object() && json.contains("key") && json["key"].is_string(), "its header");
  Require(json.value("format", CacheJson()) == kCacheFormat, "it has another format");
  return json["key"];
}

TrainingData ParseCache(std::span<const std::byte> file, std::string_view key,
                        const std::shared_ptr<const void>& keeper) {
  const std::string_view whole = TextIn(file);
  const std::string_view text = HeaderText(whole);
  const auto json = ParseJson<CacheJson>(text);
  Require(json.is_object(), "its header");
  TrainingData result;
  try {
    Require(json.at("format") == kCacheFormat && json.at("key") == key, "another file's");
    result.schema = SchemaFromJson(json.at("schema").get<std::string>());
    result.data.source = json.at("source");
    result.data.rows = json.at("rows");
    result.data.features = result.schema.features;
    result.data.is_sparse = json.at("is_sparse");
    result.data.notes = json.at("notes").get<std::vector<std::string>>();
    result.train_rows = json.at("train_rows");
    std::size_t at = AlignedSize(text.data() - whole.data() + text.size());
    ForEachArray(result.data, [&]<typename T>(CacheArray which, Array<T>& array) {
      const CacheJson& facts = json.at("arrays").at(kArrayNames[which]);
      const auto count = facts.at("count").get<std::size_t>();
      Require(at <= file.size() && count <= (file.size() - at) / sizeof(T), "an array");
      const auto bytes = file.subspan(at, count * sizeof(T));
      Require(facts.at("checksum") == Checksum(bytes), "a checksum");
      array = MakeArray<T>(bytes, keeper);
      at = AlignedSize(at + bytes.size());
    });
  } catch (const CacheJson::exception&) {
    Require(false, "a field");
  }
  CheckShape(result);
  return result;
}

}  // namespace hogbatch
