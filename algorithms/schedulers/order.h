// How schedulers break ties: among equals the higher priority goes first, then the earlier arrival,
// then the smaller id.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "runtime/control/scheduler.h"

namespace hogbatch {

// The job with the smallest `key`.
template <typename Key>
std::optional<JobId> ChooseLeast(const JobTable& table, const Key& key) {
  const auto rank = [&](const JobState& job) {
    return std::tuple(key(job), -job.priority, job.arrived, job.id);
  };
  const JobState* least = nullptr;
  for (const JobState& job : table.jobs) {
    if (!least || rank(job) < rank(*least)) least = &job;
  }
  return least ? std::optional(least->id) : std::nullopt;
}

}  // namespace hogbatch
