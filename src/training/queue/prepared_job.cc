#include "training/queue/prepared_job.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/error.h"
#include "training/job_parts.h"

namespace hogbatch {
namespace {

// Another thread may prepare a job, so nothing is shown.
class PreparationObserver final : public TrainingObserver {
 public:
  explicit PreparationObserver(std::vector<std::string>& warnings) : warnings_(warnings) {}
  void OnWarning(std::string_view sentence) override { warnings_.emplace_back(sentence); }
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view) override {}

 private:
  std::vector<std::string>& warnings_;
};

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
        fmt::format("{}; or remove {}/checkpoints, and the job begins anew", error.what(), folder));
  }
}

}  // namespace

PreparedJob PrepareJob(const JobOptions& job, const Devices& devices,
                       const SchedulerInfo& scheduler, SharedInputs& inputs) {
  PreparedJob prepared;
  try {
    PreparationObserver observer(prepared.warnings);
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
