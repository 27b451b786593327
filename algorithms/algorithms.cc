#include "algorithms/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "algorithms/named_table.h"
#include "algorithms/table.h"
#include "core/error.h"
#include "core/words.h"

namespace hogbatch {
namespace {

constexpr AlgorithmInfo kTable[] = {
#define ALGORITHM(make, options, ...) {__VA_ARGS__, make, options},
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

const AlgorithmInfo& DefaultAlgorithm(DefaultFor workers) {
  const auto is_default = [&](const AlgorithmInfo& info) {
    return info.traits.default_for == workers;
  };
  const auto* const found = std::ranges::find_if(kTable, is_default);
  Check(found != std::end(kTable), "one algorithm is the default");
  return *found;
}

const AlgorithmInfo& ChooseAlgorithm(std::string_view asked, std::span<const DeviceInfo> devices) {
  if (asked != "auto") return FindAlgorithm(asked);
  const auto differs = [&](const DeviceInfo& info) { return info.kind != devices.front().kind; };
  return DefaultAlgorithm(std::ranges::any_of(devices, differs) ? DefaultFor::kSeveralKinds
                                                                : DefaultFor::kOneKind);
}

Words AlgorithmWords() { return WithAuto({.words = AlgorithmNames()}); }

std::string AlgorithmHelp() {
  return fmt::format("{}. auto is {} where two kinds of device train together, else {}",
                     SummariesIn(Algorithms()), DefaultAlgorithm(DefaultFor::kSeveralKinds).name,
                     DefaultAlgorithm(DefaultFor::kOneKind).name);
}

OptionsOfAlgorithms::OptionsOfAlgorithms() {
  for (const AlgorithmInfo& algorithm : kTable) all_.push_back(algorithm.options());
}

void OptionsOfAlgorithms::Visit(OptionVisitor& visitor) {
  for (AnyOptions& options : all_) options.Visit(visitor);
}

const AnyOptions& OptionsOfAlgorithms::of(const AlgorithmInfo& algorithm) const {
  return all_[&algorithm - std::begin(kTable)];
}

std::int64_t FixedBatchSize(const AlgorithmOptions& options, DeviceKind kind) {
  return FixedBatchSize(options.range_of(kind), kind);
}

int AsynchronousWorkers(const AlgorithmTraits& traits, int workers) {
  return traits.synchronous ? 1 : workers;
}

}  // namespace hogbatch
