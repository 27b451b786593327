#include "training/queue/job_outcome.h"

#include <array>

#include "core/words.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<JobOutcome>, 7> kOutcomes{{
    {"waiting", JobOutcome::kWaiting},
    {"running", JobOutcome::kRunning},
    {"stopped", JobOutcome::kStopped},
    {"done", JobOutcome::kDone},
    {"interrupted", JobOutcome::kInterrupted},
    {"diverged", JobOutcome::kDiverged},
    {"failed", JobOutcome::kFailed},
}};

}  // namespace

std::string_view Name(JobOutcome outcome) { return NameOf(outcome, kOutcomes); }

std::optional<JobOutcome> FindOutcome(std::string_view name) { return FindWord(name, kOutcomes); }

bool IsOver(JobOutcome outcome) {
  return outcome == JobOutcome::kDone || outcome == JobOutcome::kDiverged ||
         outcome == JobOutcome::kFailed;
}

JobOutcome OutcomeAfter(StopReason reason) {
  switch (reason) {
    case StopReason::kPaused:
      return JobOutcome::kStopped;
    case StopReason::kInterrupted:
      return JobOutcome::kInterrupted;
    case StopReason::kDiverged:
      return JobOutcome::kDiverged;
    case StopReason::kNoWorkers:
      return JobOutcome::kFailed;
    default:
      return JobOutcome::kDone;
  }
}

}  // namespace hogbatch
