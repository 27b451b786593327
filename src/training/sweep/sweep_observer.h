#pragma once

#include <cstddef>
#include <string_view>

namespace hogbatch {

// Called on the thread of SweepRun::Run; must not take long.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void OnPreparation(std::string_view /*worker*/, double /*seconds*/) {}
  // Its result has changed: it was evaluated, or has ended a rung.
  virtual void OnTrial(std::size_t trial) = 0;
  // Another trial has the best model, which is in model.safetensors.
  virtual void OnBest(std::size_t /*trial*/) {}
  virtual void OnWarning(std::string_view sentence) = 0;
  // About ten times a second.
  virtual void OnPoll() {}
};

}  // namespace hogbatch
