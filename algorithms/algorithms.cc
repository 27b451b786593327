#include "algorithms/algorithms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "algorithms/table.h"
#include "core/error.h"

namespace hogbatch {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Algorithm> (*make)(const AlgorithmOptions&);
  bool asynchronous;
};

constexpr Row kTable[] = {
    {"hogbatch", MakeHogbatch, true},
    {"adaptive", MakeAdaptiveHogbatch, true},
    {"sync", MakeSync, false},
};

const Row& Find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTable), std::end(kTable),
                                   [&](const Row& row) { return row.name == name; });
  if (found == std::end(kTable)) {
    throw UserError(fmt::format("there is no algorithm '{}'; there are: {}", name,
                                fmt::join(AlgorithmNames(), ", ")));
  }
  return *found;
}

}  // namespace

std::vector<std::string> AlgorithmNames() {
  std::vector<std::string> names;
  for (const Row& row : kTable) names.emplace_back(row.name);
  return names;
}

AlgorithmInfo FindAlgorithm(std::string_view name) {
  return {name, {.adapts_batch_size = name == "adaptive", .synchronous = !Find(name).asynchronous}};
}

std::unique_ptr<Algorithm> MakeAlgorithm(std::string_view name, const AlgorithmOptions& options) {
  return Find(name).make(options);
}

int AsynchronousWorkers(std::string_view algorithm, int workers) {
  return Find(algorithm).asynchronous ? workers : 1;
}

std::int64_t FixedBatchSize(const BatchRange& range, DeviceKind kind) {
  const std::int64_t usual = kind == DeviceKind::kCpu ? 16 : 512;
  return std::clamp(usual, range.min, range.max);
}

std::int64_t FixedBatchSize(const AlgorithmOptions& options, DeviceKind kind) {
  return FixedBatchSize(kind == DeviceKind::kCpu ? options.cpu_batch : options.gpu_batch, kind);
}

}  // namespace hogbatch
