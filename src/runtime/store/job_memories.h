// The memory of each job of a run, by its id: tasks carry ids, never pointers.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "core/error.h"
#include "core/ids.h"
#include "runtime/store/job_memory.h"

namespace hogbatch {

// Any thread may call it. A worker asks once per job.
class JobMemories {
 public:
  // Before the job's first task.
  void Add(JobId job, std::shared_ptr<JobMemory> memory) {
    const std::scoped_lock lock(mutex_);
    memories_[job] = std::move(memory);
  }
  // Workers that still have the job keep its memory.
  void Remove(JobId job) {
    const std::scoped_lock lock(mutex_);
    memories_.erase(job);
  }
  std::shared_ptr<JobMemory> Get(JobId job) const {
    const std::scoped_lock lock(mutex_);
    const auto found = memories_.find(job);
    Check(found != memories_.end(), "a task of a job that has no memory");
    return found->second;
  }
  // Of any job; null if there is none.
  std::shared_ptr<JobMemory> First() const {
    const std::scoped_lock lock(mutex_);
    return memories_.empty() ? nullptr : memories_.begin()->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<JobId, std::shared_ptr<JobMemory>> memories_;
};

}  // namespace hogbatch
