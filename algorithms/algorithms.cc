#include "algorithms/algorithms.h"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/named_table.h"
#include "algorithms/table.h"
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

std::vector<std::string> AlgorithmNames() { return NamesIn(Algorithms()); }

const AlgorithmInfo& FindAlgorithm(std::string_view name) {
  return FindIn(Algorithms(), "algorithm", name);
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
  return fmt::format("{}. auto is adaptive where two kinds of device train together, else hogbatch",
                     SummariesIn(Algorithms()));
}

std::int64_t FixedBatchSize(const AlgorithmOptions& options, DeviceKind kind) {
  return FixedBatchSize(options.range_of(kind), kind);
}

int AsynchronousWorkers(const AlgorithmTraits& traits, int workers) {
  return traits.synchronous ? 1 : workers;
}

}  // namespace hogbatch
