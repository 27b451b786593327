// The algorithms by name. A new one is a file beside this one and a line in table.inc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/batch_range.h"
#include "core/any_options.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

struct AlgorithmOptions {
  BatchRange cpu_batch = kDefaultCpuBatch;
  BatchRange gpu_batch = kDefaultGpuBatch;
  AnyOptions own = {};  // of this algorithm alone; empty: at their defaults

  const BatchRange& range_of(DeviceKind kind) const {
    return kind == DeviceKind::kCpu ? cpu_batch : gpu_batch;
  }
};

// What --algorithm auto takes it for: workers of one kind, or of several, whose speeds differ too
// much for fixed batch sizes.
enum class DefaultFor : std::uint8_t { kNothing, kOneKind, kSeveralKinds };

// What the rest of the program has to know about an algorithm.
struct AlgorithmTraits {
  bool adapts_batch_size = false;  // within the range of each kind of device
  bool synchronous = false;        // all workers contribute to each update
  DefaultFor default_for = DefaultFor::kNothing;
};

struct AlgorithmInfo {
  std::string_view name;
  std::string_view summary;  // for --help; begins in lower case, without a full stop
  AlgorithmTraits traits;
  std::unique_ptr<Algorithm> (*make)(const AlgorithmOptions&);
  AnyOptions (*options)();  // its own, at their defaults
};

// In the table, for an algorithm that has no options of its own.
inline AnyOptions NoOptions() { return {}; }

std::span<const AlgorithmInfo> Algorithms();
std::vector<std::string> AlgorithmNames();

// UserError for an unknown name.
const AlgorithmInfo& FindAlgorithm(std::string_view name);
std::unique_ptr<Algorithm> MakeAlgorithm(std::string_view name, const AlgorithmOptions& options);

const AlgorithmInfo& DefaultAlgorithm(DefaultFor workers);
// The algorithm that --algorithm names, or the default for "auto". UserError for an unknown name.
const AlgorithmInfo& ChooseAlgorithm(std::string_view asked, std::span<const DeviceInfo> devices);
// What --algorithm accepts, "auto" first.
Words AlgorithmWords();
// Every algorithm with its summary, and what auto means, for --help.
std::string AlgorithmHelp();

// The own options of all algorithms, of which one will be used.
class OptionsOfAlgorithms {
 public:
  OptionsOfAlgorithms();  // at their defaults

  void Visit(OptionVisitor& visitor);
  const AnyOptions& of(const AlgorithmInfo& algorithm) const;

 private:
  std::vector<AnyOptions> all_;  // as in the table
};

// FixedBatchSize with the range of that kind of device.
std::int64_t FixedBatchSize(const AlgorithmOptions& options, DeviceKind kind);

// How many workers change the model independently at the same time: for the correction of momentum.
int AsynchronousWorkers(const AlgorithmTraits& traits, int workers);

}  // namespace hogbatch
