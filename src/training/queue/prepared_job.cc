#include "training/queue/prepared_job.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/error.h"
#include "training/job_parts.h"

namespace hogbatch {
namespace {

std::shared_ptr<const Checkpoint> FindCheckpoint(const std::string& folder, const PreparedJob& job,
                                                 TrainingObserver& observer) {
  try {
    std::optional<Checkpoint> newest =
        NewestCheckpoint(folder, [&](std::string_view why) { observer.OnWarning(why); });
    if (!newest) return nullptr;
    CheckSameRows(*newest, *job.input);
    CheckSameNetwork(*newest, job.plan.value());
    return std::make_shared<const Checkpoint>(*std::move(newest));
  } catch (const UserError& error) {
    throw UserError(
        fmt::format("{}; to begin the job anew, remove {}/checkpoints", error.what(), folder));
  }
}

}  // namespace

PreparedJob PrepareJob(const JobOptions& job, const Devices& devices,
                       const SchedulerInfo& scheduler, SharedInputs& inputs) {
  PreparedJob prepared;
  try {
    // Another thread may prepare a job, so nothing is shown.
    WarningObserver observer(
        [&](std::string_view sentence) { prepared.warnings.emplace_back(sentence); });
    Validate(job.spec);
    prepared.input = inputs.Read(job.spec, observer);
    prepared.plan =
        PlanInQueue(job.spec, *prepared.input, devices, scheduler, job.sharing, observer);
    if (!job.resume_from.empty()) {
      prepared.resume = FindCheckpoint(job.resume_from, prepared, observer);
    }
  } catch (const std::exception& error) {
    prepared.error = WhatOf(error);
  }
  return prepared;
}

}  // namespace hogbatch
