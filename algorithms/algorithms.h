// The algorithms by name. A new one is a file beside this and a line in the table of algorithms.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/control/algorithm.h"

namespace hogbatch {

// Rows per update a team may be given.
struct BatchRange {
  std::int64_t min = 1;
  std::int64_t max = 64;
};

struct AlgorithmOptions {
  BatchRange cpu_batch = {.min = 1, .max = 64};  // on each thread
  BatchRange gpu_batch = {.min = 64, .max = 8192};
  // Of Adaptive Hogbatch:
  double alpha = 2;          // rows change by this factor; above 1
  double beta = 1;           // what an update of a CPU thread counts, 0 to 1
  double adapt_band = 0.02;  // counts differ when they do by more than this part of all updates
};

// The size an algorithm that does not adapt uses: 16 rows on a CPU thread, 512 on a GPU, or the
// nearest the range allows.
std::int64_t FixedBatchSize(const BatchRange& range, DeviceKind kind = DeviceKind::kCpu);
// The same with the range of that kind of device.
std::int64_t FixedBatchSize(const AlgorithmOptions& options, DeviceKind kind);

std::vector<std::string> AlgorithmNames();

struct AlgorithmTraits {
  bool adapts_batch_size = false;
  bool synchronous = false;
};
struct AlgorithmInfo {
  std::string_view name;
  AlgorithmTraits traits;
};
AlgorithmInfo FindAlgorithm(std::string_view name);

// UserError for an unknown name.
std::unique_ptr<Algorithm> MakeAlgorithm(std::string_view name, const AlgorithmOptions& options);

// How many workers change the model at the same time, each on its own: for momentum's correction.
int AsynchronousWorkers(std::string_view algorithm, int workers);

}  // namespace hogbatch
