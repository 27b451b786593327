// A device for tests that shares no memory with the host and takes the contract of device.h at its
// word: whatever a real one may do, it does.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "device/device.h"

namespace hogbatch {

// A call that breaks the contract.
class Misuse : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// What was asked of a strict device; to be read when it is gone, or on its thread.
struct DeviceUse {
  std::int64_t limit_bytes = 0;  // to be set: memory beyond it is not there; 0: no limit
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t uploaded_bytes = 0;
  std::int64_t downloaded_bytes = 0;
  std::int64_t waits = 0;          // for everything
  std::int64_t partial_waits = 0;  // for a mark
  std::int64_t marks = 0;
  std::int64_t leaked_blocks = 0;  // when it was destroyed, of the host's memory, too
};

// Computes with `inner`, which shares host memory, but
//  - hands out addresses that nobody can follow, and takes no other;
//  - runs nothing before Wait(), which reads what was to be uploaded and writes what was to be
//    downloaded; until then downloads read as NaN. WaitFor() runs what was queued before its mark
//    and nothing after it;
//  - fills new memory with NaN, of the host and of the device;
// and throws Misuse if memory is freed or changed behind queued work, if a call reaches past its
// block, is about nothing, waits for a mark that is none, or comes from another thread.
std::unique_ptr<Device> MakeStrictDevice(std::unique_ptr<Device> inner,
                                         DeviceKind kind = DeviceKind::kCuda,
                                         std::shared_ptr<DeviceUse> use = nullptr);

}  // namespace hogbatch
