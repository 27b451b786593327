// Keeps the measured speed of GPUs at each batch size between trainings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/dataset.h"
#include "device/device_info.h"
#include "nn/model_spec.h"
#include "nn/optimizer.h"

namespace hogbatch {

struct RateAt {
  std::int64_t rows = 0;  // per update
  double rows_per_second = 0;
};

// What was measured on a GPU.
struct Rates {
  std::vector<RateAt> at = {};  // of ascending rows
  std::int64_t limit = 0;       // the largest batch size that was allowed
  bool settled = false;         // larger sizes would show nothing new
};

// Everything that decides how long updates take: the device, the network, what its rows are like,
// the optimiser, how often it merges, and the version of the program.
std::string CalibrationKey(const DeviceInfo& device, const ModelSpec& spec, const Dataset& data,
                           const OptimizerOptions& optimizer, double momentum,
                           std::int64_t merge_rows);

// One JSON file. A cache that cannot read or write is not an error. A file that a newer program
// wrote is neither read nor replaced.
class CalibrationCache {
 public:
  // Without a folder nothing is kept.
  explicit CalibrationCache(std::optional<std::filesystem::path> folder)
      : folder_(std::move(folder)) {}

  // None if the key is missing or its value cannot be a measurement.
  std::optional<Rates> Load(std::string_view key) const;
  void Save(const std::string& key, const Rates& rates) const;

 private:
  std::optional<std::filesystem::path> folder_;
};

}  // namespace hogbatch
