// What a training of one job and a queue of many have in common: a plan becomes a job, and a job
// becomes a model.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/control/jobs/job_run.h"
#include "runtime/store/job_memory.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/input.h"
#include "training/plan.h"
#include "training/train.h"

namespace hogbatch {

// The job of a plan, with an instance of its algorithm.
JobSetup MakeJobSetup(const TrainingPlan& plan, const TrainingInput& input);

// UserError if the checkpoint is of another network. To be called before memory is allocated: the
// options of a checkpoint may name any network.
void CheckSameNetwork(const Checkpoint& checkpoint, const TrainingPlan& plan);

// Rows that were trained when the checkpoint was taken. UserError, which names `source`, if it is
// damaged.
std::int64_t TrainedRows(const Checkpoint& checkpoint, std::string_view source);

// The job goes on from a checkpoint of a run with the same plan. If the devices are others, their
// optimisers and batch sizes start anew. Before the job has a worker.
void RestoreJob(const Checkpoint& checkpoint, JobRun& job, std::span<const DeviceInfo> devices,
                JobMemory& memory);

// When the job is done and no worker has a task of it.
TrainedModel FinishJob(const JobRun& job, const TrainingPlan& plan, const TrainingInput& input,
                       const JobMemory& memory);

}  // namespace hogbatch
