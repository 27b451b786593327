// Copies rows of a data set to a device that does not share host memory.
#pragma once

#include <cstdint>
#include <vector>

#include "device/device.h"
#include "nn/model.h"
#include "runtime/batches/reused_memory.h"

namespace hogbatch {

// Takes the views of batch.h, one batch after the other. The memory behind them must not change
// until the device has been waited for. The device must have been waited for since the last batch.
// What is returned is valid until the next batch. Its offsets count from the batch's first row.
class BatchCopy {
 public:
  explicit BatchCopy(Device& device) : input_(device), targets_(device) {}

  BatchInput Upload(const BatchInput& rows);
  Targets Upload(const Targets& targets);

  // Frees all device memory. No queued call may use it.
  void Release() {
    input_.Release();
    targets_.Release();
  }

  // The most device memory that copies of such batches take.
  static std::int64_t DenseBytes(std::int64_t rows, std::int64_t features);
  static std::int64_t SparseBytes(std::int64_t rows, std::int64_t entries);
  static std::int64_t LabelBytes(const ModelSpec& spec, std::int64_t rows);
  static std::int64_t WeightBytes(std::int64_t rows);

 private:
  ReusedMemory input_;
  ReusedMemory targets_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> label_offsets_;
};

}  // namespace hogbatch
