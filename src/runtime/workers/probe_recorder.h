// Records what a worker that trains in host memory is about to add to the probes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "nn/model.h"
#include "nn/optimizer.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

class ProbeRecorder {
 public:
  ProbeRecorder(WorkerId worker, JobMemory& memory, Device& device)
      : worker_(worker), memory_(memory), device_(device) {}

  // Before the gradient is added to the weights as it is made.
  void RecordDirect(const Model::LastLayer& last, float learning_rate, float keep);
  // Before an optimiser steps the last layer by `gradient`. What it adds depends on its state, so a
  // second optimiser of the same kind steps the probes alone.
  void RecordStep(const LayerGradient& gradient, float learning_rate, std::int64_t update);

 private:
  using Values = std::array<float, Probes::kMax>;

  std::span<float> First(Values& values) const {
    return std::span(values).first(memory_.probes.positions().size());
  }

  WorkerId worker_;
  JobMemory& memory_;
  Device& device_;
  std::unique_ptr<Optimizer> of_probes_;
};

}  // namespace hogbatch
