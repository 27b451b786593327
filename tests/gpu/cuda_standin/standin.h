// A host stand-in for the CUDA runtime, cuBLAS, cublasLt and cuDNN: exactly the entry points that
// the CUDA driver calls, over host memory, and as strict as the real libraries or stricter. This
// header is what tests see of it beside those entry points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hogbatch::standin {

// The machine that is feigned. A program that only links the stand-in sets it by the environment
// variables named here.
struct Settings {
  int devices = 2;                                  // HOGBATCH_STANDIN_DEVICES
  std::size_t memory_bytes = std::size_t{1} << 30;  // HOGBATCH_STANDIN_MEMORY, of each device
  int driver_version = 0;                           // HOGBATCH_STANDIN_DRIVER; 0: the runtime's
  std::uint64_t seed = 1;                           // HOGBATCH_STANDIN_SEED: the order of work
  std::int64_t fail_at = 0;                         // HOGBATCH_STANDIN_FAIL: see below
  std::int64_t full_at = 0;                         // HOGBATCH_STANDIN_FULL: see below
  std::int64_t full_for = 1;                        // HOGBATCH_STANDIN_FULL_FOR

  static Settings FromEnvironment();
};
// With fail_at n the n-th call that can fail does: the device is then dead, and every later call to
// it fails too, as after an error that sticks. Calls that give things back still do.
// With full_at n the n-th request for memory of a device or for pinned memory finds none, and so
// do the next ones, `full_for` in all. That kills nothing.

// A machine as after power on. What the old one handed out is gone.
void Restart(const Settings& settings);

// Since the restart, those that can fail.
std::int64_t CallsMade();
std::int64_t MemoryRequestsMade();

// What was done wrong since the last call, a sentence each, with everything that was not given
// back; then restarts the machine as it was. Violations that nobody took end the process with
// kViolated when it exits.
std::vector<std::string> TakeViolations();
inline constexpr int kViolated = 97;

}  // namespace hogbatch::standin
