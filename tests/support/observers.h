// Observers of trainings for tests and benchmarks.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "training/observer.h"

namespace hogbatch {

// Keeps warnings and ignores progress. A worker that fails is an error.
class QuietObserver : public TrainingObserver {
 public:
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view worker, std::string_view what) override {
    throw Error(std::string(worker) + ": " + std::string(what));
  }
  void OnWarning(std::string_view sentence) override { warnings += sentence; }

  std::string warnings;
};

}  // namespace hogbatch
