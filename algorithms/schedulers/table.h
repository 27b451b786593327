// What each scheduler's file offers to the table.
#pragma once

#include <memory>

#include "algorithms/schedulers/schedulers.h"

namespace hogbatch {

#define SCHEDULER(make, ...) std::unique_ptr<Scheduler> make(const SchedulerOptions& options);
#include "algorithms/schedulers/table.inc"
#undef SCHEDULER

}  // namespace hogbatch
