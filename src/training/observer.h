// What a training tells its caller while it runs.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "runtime/control/progress.h"

namespace hogbatch {

// Called on the caller's own thread; must not take long.
class TrainingObserver : public RunObserver {
 public:
  // A long preparation begins ("reading mine.csv", "calibrating cuda.0"); empty: it is over.
  virtual void OnActivity(std::string_view /*what*/) {}
  void OnWarning(std::string_view sentence) override = 0;
};

// Passes warnings on; for what reports nothing else, such as a preparation or a save.
class WarningObserver final : public TrainingObserver {
 public:
  using Warn = std::function<void(std::string_view sentence)>;
  explicit WarningObserver(Warn warn) : warn_(std::move(warn)) {}

  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view) override {}
  void OnWarning(std::string_view sentence) override { warn_(sentence); }

 private:
  Warn warn_;
};

}  // namespace hogbatch
