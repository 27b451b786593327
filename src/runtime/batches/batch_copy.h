// Rows of a data set in the memory of a device that does not share the host's.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.h"
#include "nn/model.h"
#include "runtime/batches/reused_memory.h"

namespace hogbatch {

// Copies host views (batch.h) of one batch after the other. The views must stay as they are until
// the device is waited for, and it must have been waited for since the last batch. What is returned
// is good until the next batch. Offsets are counted anew from the batch's first row.
class BatchCopy {
 public:
  explicit BatchCopy(Device& device) : input_(device), targets_(device) {}

  BatchInput Upload(const BatchInput& rows);
  Targets Upload(const Targets& targets);

  // Gives all memory back. Nothing queued may use it.
  void Release() {
    input_.Release();
    targets_.Release();
  }

  // What copies of such batches take of a device at most.
  static std::int64_t DenseBytes(std::int64_t rows, std::int64_t features);
  static std::int64_t SparseBytes(std::int64_t rows, std::int64_t entries);
  static std::int64_t TargetBytes(const ModelSpec& spec, std::int64_t rows);

 private:
  ReusedMemory input_;
  ReusedMemory targets_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> label_offsets_;
};

}  // namespace hogbatch
