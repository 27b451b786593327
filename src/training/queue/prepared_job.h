// From the options of a job to what Queue::Add takes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/queue/queue.h"
#include "training/queue/shared_inputs.h"

namespace hogbatch {

struct JobOptions {
  TrainingSpec spec;
  Sharing sharing = Sharing::kAnyWorkers;
  std::string resume_from = {};  // a folder, whose checkpoint it goes on from if it has one
};

struct PreparedJob {
  std::string error = {};  // why it cannot run, in a sentence; empty: it can
  std::shared_ptr<const TrainingInput> input = {};
  std::optional<TrainingPlan> plan = {};
  std::shared_ptr<const Checkpoint> resume = {};  // null: it begins
  std::vector<std::string> warnings = {};
};

// Validates the options, reads the data, plans, and finds the checkpoint to go on from. A job whose
// checkpoints do not fit cannot run: it would replace them. Whatever goes wrong is reported in the
// result, since it concerns this job alone.
PreparedJob PrepareJob(const JobOptions& job, const Devices& devices,
                       const SchedulerInfo& scheduler, SharedInputs& inputs);

}  // namespace hogbatch
