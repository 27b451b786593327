// --watch: jobs that come and go while a queue runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/queue/queue_command.h"
#include "core/clock.h"
#include "core/error.h"

namespace hogbatch {
namespace {

constexpr double kWatchSeconds = 0.5;

}  // namespace

void QueueCommand::Watch() {
  if (options_.watch.empty()) return;
  TakePrepared();
  PrepareNext();
  const double now = SteadySeconds();
  if (now - watched_at_ < kWatchSeconds) return;
  watched_at_ = now;
  const WatchedFiles::Changes changes = watched_.Look();
  for (const std::string& path : changes.settled) TakeWatchedFile(path);
  for (const std::string& path : changes.gone) {
    for (const std::string& name : watched_jobs_[path]) Cancel(name);
    watched_jobs_.erase(path);
  }
}

void QueueCommand::TakePrepared() {
  using namespace std::chrono_literals;
  if (!preparing_.valid() || preparing_.wait_for(0s) != std::future_status::ready) return;
  Prepared prepared = preparing_.get();
  if (FindRow(prepared.request.name)->outcome != JobOutcome::kWaiting) return;  // cancelled
  Announce(prepared);
  Add(prepared);
  RecordQueue();
}

void QueueCommand::PrepareNext() {
  if (preparing_.valid() || arriving_.empty()) return;
  auto task = std::make_shared<std::packaged_task<Prepared()>>(
      [this, next = arriving_.front()] { return Prepare(next); });
  preparer_->Post([task] { (*task)(); });
  preparing_ = task->get_future();
  arriving_.pop_front();
}

// A file that is wrong is reported once, and is no reason to end.
void QueueCommand::TakeWatchedFile(const std::string& path) {
  try {
    AcceptNew(ReadJobs(path), watched_jobs_[path]);
    RecordQueue();
  } catch (const std::exception& error) {
    console_.Warn(WhatOf(error));
  }
}

// All new jobs of a file or none of them. `names` are those that came from it: a file that has
// changed has them again, and so has one that was there when the queue was resumed.
void QueueCommand::AcceptNew(const JobsFile& file, std::vector<std::string>& names) {
  std::vector<JobRequest> fresh;
  std::vector<std::string> all = names;
  for (const JobRequest& request : file.jobs) {
    if (std::ranges::find(names, request.name) != names.end()) continue;
    all.push_back(request.name);
    if (resumed_.contains(request.name)) continue;
    if (FindRow(request.name)) {
      throw UserError(fmt::format("{}: there was a job with the name '{}' before; give it another",
                                  request.place, request.name));
    }
    fresh.push_back(request);
  }
  if (!fresh.empty()) kept_->Keep(file);
  for (JobRequest& request : fresh) {
    Accept(request);
    arriving_.push_back(std::move(request));
  }
  names = std::move(all);
}

void QueueCommand::Cancel(const std::string& name) {
  std::erase_if(arriving_, [&](const JobRequest& request) { return request.name == name; });
  const auto added = std::ranges::find_if(
      row_of_, [&](const auto& job) { return rows_[job.second].name == name; });
  JobRow* const row = FindRow(name);
  if (added != row_of_.end()) {
    queue_->Cancel(added->first);
  } else if (row && row->outcome == JobOutcome::kWaiting) {
    row->outcome = JobOutcome::kInterrupted;
    RecordQueue();
  }
}

}  // namespace hogbatch
