// --watch: jobs that come and go while a queue runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "cli/queue/queue_command.h"
#include "core/clock.h"
#include "core/error.h"

namespace hogbatch {
namespace {

constexpr double kWatchSeconds = 0.5;

}  // namespace

void QueueCommand::Watch() {
  using namespace std::chrono_literals;
  if (preparing_.valid() && preparing_.wait_for(0s) == std::future_status::ready) {
    const Prepared prepared = preparing_.get();
    if (!std::exchange(prepared_in_vain_, false)) {
      Tell(prepared);
      Add(prepared);
      RecordQueue();
    }
  }
  if (!preparing_.valid() && !arriving_.empty()) {
    preparing_name_ = arriving_.front().name;
    preparing_ =
        std::async(std::launch::async, [this, next = arriving_.front()] { return Prepare(next); });
    arriving_.pop_front();
  }
  const double now = SteadySeconds();
  if (options_.watch.empty() || now - watched_at_ < kWatchSeconds) return;
  watched_at_ = now;
  const std::vector<std::string> files = JobFiles(options_.watch);
  for (const std::string& file : files) {
    if (!watched_.contains(file)) TakeWatchedFile(file);
  }
  std::erase_if(watched_, [&](const auto& watched) {
    if (std::ranges::find(files, watched.first) != files.end()) return false;
    for (const std::string& name : watched.second) {
      std::erase_if(arriving_, [&](const JobRequest& request) { return request.name == name; });
      prepared_in_vain_ |= preparing_.valid() && preparing_name_ == name;
      for (const auto& [id, place] : row_of_) {
        if (rows_[place].name == name) queue_->Cancel(id);
      }
    }
    return true;
  });
}

// A file that is wrong is told once, and is no reason to end.
void QueueCommand::TakeWatchedFile(const std::string& path) {
  std::vector<std::string>& names = watched_[path];
  try {
    std::vector<JobRequest> requests = ReadJobs(path, std::filesystem::path(path).stem());
    for (JobRequest& request : requests) {
      const bool is_resumed = earlier_.contains(request.name);
      if (!is_resumed && std::ranges::find(rows_, request.name, &JobRow::name) != rows_.end()) {
        throw UserError(
            fmt::format("{}: there was a job with the name '{}' before; give it another",
                        request.place, request.name));
      }
      names.push_back(request.name);
      if (!is_resumed) arriving_.push_back(std::move(request));
    }
    KeepJobsFile(path);
  } catch (const Error& error) {
    console_.Warn(error.what());
  }
}

}  // namespace hogbatch
