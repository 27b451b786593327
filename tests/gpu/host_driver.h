// A driver without a GPU: host memory, the kernels as loops, and streams whose work runs late, in
// an order that only events constrain.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "gpu/driver.h"

namespace hogbatch::gpu {

enum class Libraries : std::uint8_t { kNone, kFusing };

struct HostDriverOptions {
  std::uint32_t seed = 1;  // of the order in which work of different streams runs
  Libraries libraries = Libraries::kNone;
  std::size_t memory_bytes = std::size_t{1} << 34;  // of the device
  int fail_call = std::numeric_limits<int>::max();  // which of its calls throws, counted from 1
};

// Outlives its driver and tells what that did.
struct HostDriverLog {
  int calls = 0;
  int synchronized = 0;         // with everything
  int synchronized_events = 0;  // with one event
  int pinned_chunks = 0;        // that were allocated
  int products_with_bias = 0;
  int log_softmaxes = 0;
  std::size_t bytes_in_use = 0;
};

// When it is destroyed the test fails for whatever it handed out and did not get back.
std::unique_ptr<Driver> MakeHostDriver(HostDriverOptions options,
                                       std::shared_ptr<HostDriverLog> log = nullptr);

}  // namespace hogbatch::gpu
