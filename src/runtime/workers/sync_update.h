// Synchronous training: applies one slice of a round's update, the mean of all held gradients.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "messaging/messages.h"
#include "nn/optimizer.h"
#include "runtime/batches/reused_memory.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

class SyncUpdate {
 public:
  SyncUpdate(WorkerId worker, Device& device, JobMemory& memory)
      : worker_(worker), device_(device), memory_(memory), scratch_(device) {}

  // Averages the gradients of task.round over their rows, in the order of the workers. Then steps
  // the weight rows of slice task.slice of every layer; biases belong to slice 0. Optimiser state
  // belongs to the slice. It is reset if a worker fails and the slices change.
  void Apply(const Task& task);

  // Between rounds. Nothing is written before the first Apply.
  void SaveTo(SavedWorker& saved);
  // The next Apply begins with new optimiser state, and not with what was saved.
  void Forget();

 private:
  void BeginSlice(const Task& task);
  struct Contribution {
    const LayerGradient* gradient;
    float share;  // of the round's rows
  };
  std::vector<Contribution> Gather(std::int64_t round, std::size_t layer) const;
  void ApplyLayer(const Task& task, AppliedSlice& applied);
  LayerGradient SumDense(std::span<const Contribution> parts, RowRange rows);
  LayerGradient SumSparse(std::span<const Contribution> parts, RowRange rows);
  Tensor SumBiases(std::span<const Contribution> parts);
  void StepStore(const Task& task, RowRange rows, LayerGradient gradient, AppliedSlice& applied);
  void StepCopy(const Task& task, std::size_t layer, RowRange rows, const LayerGradient& gradient);

  // Host memory as the device sees it: in place, or a copy.
  Tensor OnDevice(const Tensor& host);
  DeviceSpan<const std::int32_t> OnDevice(std::span<const std::int32_t> host);

  // not state: worker_, device_, memory_, scratch_, touched_, places_
  WorkerId worker_;
  Device& device_;
  JobMemory& memory_;
  std::unique_ptr<Optimizer> optimizer_;
  std::int32_t slice_ = -1;
  std::int32_t slices_ = 0;
  std::int64_t updates_ = 0;

  // In use for one layer, until the device is waited for.
  ReusedMemory scratch_;
  std::vector<std::int32_t> touched_;             // rows of the slice that any gradient touches
  std::deque<std::vector<std::int32_t>> places_;  // of each gradient's rows among touched_
};

}  // namespace hogbatch
