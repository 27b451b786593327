#include "algorithms/algorithms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "algorithms/table.h"
#include "core/error.h"
#include "core/words.h"

namespace hogbatch {
namespace {

constexpr AlgorithmInfo kTable[] = {
#define ALGORITHM(make, ...) {__VA_ARGS__, make},
#include "algorithms/table.inc"
#undef ALGORITHM
};

}  // namespace

std::span<const AlgorithmInfo> Algorithms() { return kTable; }

std::vector<std::string> AlgorithmNames() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : kTable) names.emplace_back(info.name);
  return names;
}

const AlgorithmInfo& FindAlgorithm(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &AlgorithmInfo::name);
  if (found == std::end(kTable)) {
    throw UserError(fmt::format("there is no algorithm '{}'; there are: {}", name,
                                fmt::join(AlgorithmNames(), ", ")));
  }
  return *found;
}

std::unique_ptr<Algorithm> MakeAlgorithm(std::string_view name, const AlgorithmOptions& options) {
  return FindAlgorithm(name).make(options);
}

std::string_view DefaultAlgorithm(std::span<const DeviceInfo> devices) {
  const auto differs = [&](const DeviceInfo& info) { return info.kind != devices.front().kind; };
  return std::ranges::any_of(devices, differs) ? "adaptive" : "hogbatch";
}

const AlgorithmInfo& ChooseAlgorithm(std::string_view asked, std::span<const DeviceInfo> devices) {
  return FindAlgorithm(asked == "auto" ? DefaultAlgorithm(devices) : asked);
}

Words AlgorithmWords() { return WithAuto({.words = AlgorithmNames()}); }

std::string AlgorithmHelp() {
  std::vector<std::string> all;
  for (const AlgorithmInfo& info : kTable) {
    all.push_back(fmt::format("{}: {}", info.name, info.summary));
  }
  return fmt::format("{}. auto is adaptive where two kinds of device train together, else hogbatch",
                     fmt::join(all, "; "));
}

std::int64_t FixedBatchSize(const AlgorithmOptions& options, DeviceKind kind) {
  return FixedBatchSize(options.range_of(kind), kind);
}

int AsynchronousWorkers(const AlgorithmTraits& traits, int workers) {
  return traits.synchronous ? 1 : workers;
}

}  // namespace hogbatch
