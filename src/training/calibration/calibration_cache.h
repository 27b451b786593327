// How fast GPUs were at which batch sizes, between trainings.
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
  std::int64_t limit = 0;       // no more rows were allowed
  bool settled = false;         // larger sizes would have told nothing new
};

// Everything that decides how long updates take: the device, the network, what its rows are like,
// the optimiser, how often it merges, and the version of the program.
std::string CalibrationKey(const DeviceInfo& device, const ModelSpec& spec, const Dataset& data,
                           const OptimizerOptions& optimizer, double momentum,
                           std::int64_t merge_rows);

// One JSON file. It may fail to keep or find anything, and no failure of it is an error. A file
// that a newer program wrote is neither read nor replaced.
class CalibrationCache {
 public:
  // Without a folder nothing is kept.
  explicit CalibrationCache(std::optional<std::filesystem::path> folder)
      : folder_(std::move(folder)) {}

  // None if the key is not there, or what is there cannot have been measured.
  std::optional<Rates> Load(std::string_view key) const;
  void Save(const std::string& key, const Rates& rates) const;

 private:
  std::optional<std::filesystem::path> folder_;
};

}  // namespace hogbatch
