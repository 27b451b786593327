// What a training tells its caller while it runs.
#pragma once

#include <string_view>

#include "runtime/control/progress.h"

namespace hogbatch {

// Called on the caller's own thread; must not take long.
class TrainingObserver : public RunObserver {
 public:
  // A long preparation begins ("reading mine.csv", "calibrating cuda.0"); empty: it is over.
  virtual void OnActivity(std::string_view /*what*/) {}
  void OnWarning(std::string_view sentence) override = 0;
};

}  // namespace hogbatch
