// The algorithms by name. A new one is a file beside this one and a line in table.inc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/adaptive_options.h"
#include "algorithms/batch_range.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

struct AlgorithmOptions {
  BatchRange cpu_batch = kDefaultCpuBatch;
  BatchRange gpu_batch = kDefaultGpuBatch;
  AdaptiveOptions adaptive = {};

  const BatchRange& range_of(DeviceKind kind) const {
    return kind == DeviceKind::kCpu ? cpu_batch : gpu_batch;
  }
};

// What the rest of the program has to know about an algorithm.
struct AlgorithmTraits {
  bool adapts_batch_size = false;  // within the range of each kind of device
  bool synchronous = false;        // all workers contribute to each update
};

struct AlgorithmInfo {
  std::string_view name;
  std::string_view summary;  // for --help; begins in lower case, without a full stop
  AlgorithmTraits traits;
  std::unique_ptr<Algorithm> (*make)(const AlgorithmOptions&);
};

std::span<const AlgorithmInfo> Algorithms();
std::vector<std::string> AlgorithmNames();

// UserError for an unknown name.
const AlgorithmInfo& FindAlgorithm(std::string_view name);
std::unique_ptr<Algorithm> MakeAlgorithm(std::string_view name, const AlgorithmOptions& options);

// What --algorithm auto means on these devices: adaptive where two kinds of device train together,
// since their speeds differ too much for fixed batch sizes, and hogbatch elsewhere.
std::string_view DefaultAlgorithm(std::span<const DeviceInfo> devices);
// The algorithm that --algorithm names, or the default for "auto". UserError for an unknown name.
const AlgorithmInfo& ChooseAlgorithm(std::string_view asked, std::span<const DeviceInfo> devices);
// What --algorithm accepts, "auto" first.
Words AlgorithmWords();
// Every algorithm with its summary, and what auto means, for --help.
std::string AlgorithmHelp();

// FixedBatchSize with the range of that kind of device.
std::int64_t FixedBatchSize(const AlgorithmOptions& options, DeviceKind kind);

// How many workers change the model independently at the same time: for the correction of momentum.
int AsynchronousWorkers(const AlgorithmTraits& traits, int workers);

}  // namespace hogbatch
