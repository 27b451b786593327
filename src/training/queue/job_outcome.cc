#include "training/queue/job_outcome.h"

#include <algorithm>

#include "core/indexed_vector.h"

namespace hogbatch {
namespace {

constexpr IndexedArray<JobOutcome, std::string_view, 7> kNames({"waiting", "running", "stopped",
                                                                "done", "interrupted", "diverged",
                                                                "failed"});

}  // namespace

std::string_view Name(JobOutcome outcome) { return kNames[outcome]; }

std::optional<JobOutcome> FindOutcome(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<JobOutcome>(found - kNames.begin());
}

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
