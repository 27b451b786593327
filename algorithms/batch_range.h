// Batch sizes a worker may be given, and how --cpu-batch and --gpu-batch write them. The only place
// of their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/options.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

// Rows per update, both ends included.
struct BatchRange {
  std::int64_t min = 1;
  std::int64_t max = 1;
};

inline constexpr BatchRange kDefaultCpuBatch = {.min = 1, .max = 64};  // on each thread
// The minimum stands in until the real one is measured (auto:8192).
inline constexpr BatchRange kDefaultGpuBatch = {.min = 64, .max = 8192};

// The batch size of algorithms that do not adapt: 16 rows on a CPU thread, 512 on a GPU, or the
// nearest that the range allows.
std::int64_t FixedBatchSize(const BatchRange& range, DeviceKind kind = DeviceKind::kCpu);

// "16" or "MIN:MAX". `what` names the option in errors. UserError for anything else.
BatchRange ParseBatchRange(std::string_view what, std::string_view text);

// The same for GPUs, where the minimum may be measured: "auto:MAX", or "auto" for the default
// maximum. Until it is measured, the minimum is the default one, or MAX if that is smaller.
struct GpuBatch {
  BatchRange range = {};
  bool calibrate_min = false;
};
GpuBatch ParseGpuBatch(std::string_view what, std::string_view text);

std::string Text(const BatchRange& range);  // "1:64"
std::string Text(const GpuBatch& batch);    // "auto:8192"

// As the user writes them.
struct BatchOptions {
  std::string cpu_batch = Text(kDefaultCpuBatch);
  std::string gpu_batch = Text(GpuBatch{.range = kDefaultGpuBatch, .calibrate_min = true});

  void Visit(OptionVisitor& visitor);
};

}  // namespace hogbatch
