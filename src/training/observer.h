// What a training tells its caller while it is under way.
#pragma once

#include <string_view>

#include "runtime/control/progress.h"

namespace hogbatch {

// Called on the caller's own thread; must not take long.
class TrainingObserver : public RunObserver {
 public:
  // Something long begins before training does ("reading mine.csv", "calibrating cuda.0"); empty:
  // it is over.
  virtual void OnActivity(std::string_view /*what*/) {}
  // The training goes on, but not quite as asked.
  virtual void OnWarning(std::string_view sentence) = 0;
};

}  // namespace hogbatch
