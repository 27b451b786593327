// A scheduler answers one question: whose batch does this idle worker take next? The job's
// algorithm then says how large it is.
//
// It sees values only: no device, mailbox, thread or clock. It is asked whenever a worker has
// finished a task, so it may take a worker away from a job at the end of any task.
#pragma once

#include <optional>

#include "runtime/control/algorithm.h"

namespace hogbatch {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // One of table.jobs, which are the jobs that this worker may serve now, in the order of their
  // ids; nullopt leaves it idle until the next event. If that job has nothing to do at the moment,
  // the scheduler is asked again without it. Within one event workers are asked in order of their
  // ids. Of table.workers, counts are over all jobs.
  virtual std::optional<JobId> Choose(const WorkerState& idle, const JobTable& table) = 0;
};

}  // namespace hogbatch
