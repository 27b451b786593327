// How a job of a queue stands, or has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/control/progress.h"

namespace hogbatch {

enum class JobOutcome : std::uint8_t {
  kWaiting,
  kRunning,
  kStopped,      // it was paused, and goes on if it is wanted
  kDone,         // it ended by a rule: epochs, time, target loss or patience
  kInterrupted,  // it goes on when the queue is resumed
  kDiverged,
  kFailed,
};
std::string_view Name(JobOutcome outcome);  // "waiting", "running", …
std::optional<JobOutcome> FindOutcome(std::string_view name);

// It trains no further, whatever comes.
bool IsOver(JobOutcome outcome);

// Of a job that has stopped.
JobOutcome OutcomeAfter(StopReason reason);

}  // namespace hogbatch
