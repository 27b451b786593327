#include "training/calibration/calibration_cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/guard/cache_folder.h"
#include "core/guard/json_text.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"
#include "training/devices/device_choice.h"

namespace hogbatch {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t kFormat = 1;

fs::path PathIn(const fs::path& folder) { return folder / "calibration.json"; }

// An empty object unless there is a file that this program can read.
Json Read(const fs::path& path) {
  constexpr std::size_t kMostBytes = 1 << 20;  // a larger file is ignored
  const std::optional<std::string> text = ReadSmallFile(path.string(), kMostBytes);
  if (!text) return Json::object();
  auto content = ParseJson<Json>(*text);
  return content.is_object() ? content : Json::object();
}

// Whether this program understands the file. The first one wrote no format.
bool IsReadable(const Json& content) {
  const auto format = content.find("format");
  return format == content.end() ||
         (format->is_number_integer() && format->get<std::int64_t>() == kFormat);
}

// A number such as 1e99 has no place in an integer.
std::int64_t WholeNumber(const Json& value) {
  if (!value.is_number_integer()) throw Error("the calibration cache has no whole number");
  return value.get<std::int64_t>();
}

std::optional<Rates> RatesFrom(const Json& entry) {
  Rates rates{.limit = WholeNumber(entry.at("limit")), .settled = entry.at("settled").get<bool>()};
  std::int64_t last = 0;
  for (const Json& pair : entry.at("rates")) {
    const RateAt rate{.rows = WholeNumber(pair.at(0)), .rows_per_second = pair.at(1).get<double>()};
    const bool ascends = rate.rows > last && rate.rows <= std::numeric_limits<std::int32_t>::max();
    if (!ascends || !std::isfinite(rate.rows_per_second) || rate.rows_per_second <= 0) {
      return std::nullopt;
    }
    last = rate.rows;
    rates.at.push_back(rate);
  }
  if (rates.at.empty() || rates.limit < last) return std::nullopt;
  return rates;
}

// Two digits, so that similar data have the same key.
double Rounded(double value) {
  if (value <= 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

std::string InputText(const Dataset& data) {
  if (!data.is_sparse) return "dense";
  const auto entries = static_cast<double>(data.columns.size());
  const double rows = static_cast<double>(std::max<std::int64_t>(1, data.rows));
  return fmt::format("{:.3g} nonzeros", Rounded(entries / rows));
}

// A processor used as a GPU reports the memory that is free at the moment, so it is left out.
std::string MemoryText(const DeviceInfo& device) {
  return device.on_processor ? "" : fmt::format(", {} bytes", device.memory_bytes);
}

}  // namespace

std::string CalibrationKey(const DeviceInfo& device, const ModelSpec& spec, const Dataset& data,
                           const OptimizerOptions& optimizer, double momentum,
                           std::int64_t merge_rows) {
  return fmt::format("hogbatch {}; {} {}{}; {}-{}-{}, {}, {}; {}; {}{}{}; {} to merge",
                     HOGBATCH_VERSION, Name(device.kind), device.description, MemoryText(device),
                     spec.inputs, fmt::join(spec.hidden, "-"), spec.outputs, Name(spec.activation),
                     Name(spec.loss), InputText(data), optimizer.optimizer,
                     momentum > 0 ? " with momentum" : "",
                     optimizer.weight_decay > 0 ? " with decay" : "", merge_rows);
}

std::optional<Rates> CalibrationCache::Load(std::string_view key) const {
  if (!folder_ || !OpenCacheFolder(*folder_)) return std::nullopt;
  try {
    const Json content = Read(PathIn(*folder_));
    const auto found = content.find(key);
    return found == content.end() || !IsReadable(content) ? std::nullopt : RatesFrom(*found);
  } catch (const std::exception&) {
    return std::nullopt;  // not written by this program: measure again
  }
}

void CalibrationCache::Save(const std::string& key, const Rates& rates) const {
  if (!folder_ || !OpenCacheFolder(*folder_)) return;
  try {
    Json content = Read(PathIn(*folder_));
    if (!IsReadable(content)) return;  // a newer program needs it
    content["format"] = kFormat;
    Json pairs = Json::array();
    for (const RateAt& rate : rates.at) {
      pairs.push_back(Json::array({rate.rows, rate.rows_per_second}));
    }
    content[key] = {{"limit", rates.limit}, {"settled", rates.settled}, {"rates", pairs}};
    ReplaceFile(PathIn(*folder_).string(), JsonText(content, 1) + "\n");
  } catch (const std::exception&) {
    // A full disk, or a folder without write permission: the next training measures again.
  }
}

}  // namespace hogbatch
