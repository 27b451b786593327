// What a worker that trains in host memory means to add to the probes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "nn/model.h"
#include "nn/optimizer.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

class ProbedSteps {
 public:
  ProbedSteps(WorkerId worker, JobMemory& memory, Device& device)
      : worker_(worker), memory_(memory), device_(device) {}

  // The gradient is about to be added to the weights as it is made.
  void BeforeDirect(const Model::LastLayer& last, float rate, float keep);
  // An optimiser is about to step the last layer by `gradient`. What it adds depends on its state:
  // the probes are stepped beside it by one of the same kind.
  void BeforeStep(const LayerGradient& gradient, float rate, std::int64_t update);

 private:
  using Values = std::array<float, Probes::kMost>;

  std::span<float> First(Values& values) const {
    return std::span(values).first(memory_.probes.places().size());
  }

  WorkerId worker_;
  JobMemory& memory_;
  Device& device_;
  std::unique_ptr<Optimizer> beside_;
};

}  // namespace hogbatch
