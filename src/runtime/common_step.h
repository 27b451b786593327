// Synchronous training: one worker's slice of the update that all held gradients of a step add up
// to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "messaging/messages.h"
#include "nn/optimizer.h"
#include "runtime/job_memory.h"

namespace hogbatch {

class CommonStep {
 public:
  CommonStep(Device& device, JobMemory& memory) : device_(device), memory_(memory) {}

  // Averages the gradients of task.step over their rows, in the order of the workers, and steps the
  // weight rows of slice task.slice of every layer (biases are in slice 0). Optimiser state belongs
  // to the slice: it starts anew if a worker fails and the slices are dealt again.
  void Apply(const Task& task);

 private:
  struct Contribution {
    const LayerGradient* gradient;
    float share;  // of the step's rows
  };
  std::vector<Contribution> Gather(std::int64_t step, std::size_t layer) const;
  void ApplyLayer(const Task& task, std::size_t layer);
  LayerGradient SumDense(std::span<const Contribution> parts, RowRange rows);
  LayerGradient SumSparse(std::span<const Contribution> parts, RowRange rows);
  Tensor Scratch(std::int64_t rows, std::int64_t cols);

  Device& device_;
  JobMemory& memory_;
  std::unique_ptr<Optimizer> optimizer_;
  std::int32_t slice_ = -1;
  std::int32_t slices_ = 0;
  std::int64_t updates_ = 0;
  Buffer scratch_;
  Buffer bias_;
  std::vector<std::int32_t> touched_;
};

}  // namespace hogbatch
