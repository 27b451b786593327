// The files of a queue: its folder, and those of its jobs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "cli/queue/queue_command.h"
#include "cli/report.h"
#include "cli/run_files.h"
#include "core/error.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"
#include "core/text.h"
#include "training/job_parts.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytesOfQueue = std::size_t{16} << 20;
constexpr char kRecord[] = "/queue.json";

}  // namespace

// A new queue in an old folder has no record until its jobs are in their folders: if it is killed
// before, there is nothing to go on with.
std::vector<JobRequest> QueueCommand::Open() {
  const bool resumes = !options_.resume.empty();
  JobsFile file;
  if (resumes && !fs::exists(options_.resume + kRecord)) {
    throw UserError(fmt::format("--resume {}: there is no queue.json; name the folder of a queue",
                                options_.resume));
  }
  if (!options_.jobs.empty()) file = ReadJobs(options_.jobs);
  folder_ = MakeOutputFolder(resumes ? options_.resume : options_.out);
  lock_.emplace(folder_);
  kept_.emplace(folder_);
  if (resumes) {
    ReadStates();
    std::vector<JobRequest> requests = kept_->Read();
    for (const JobRequest& request : requests) resumed_.insert(request.name);
    if (!options_.retry.empty()) Retry();
    return requests;
  }
  fs::remove(folder_ + kRecord);
  kept_->Clear();
  if (!options_.jobs.empty()) kept_->Keep(file);
  return std::move(file.jobs);
}

void QueueCommand::ReadStates() {
  const std::string path = folder_ + kRecord;
  const auto text = ReadSmallFile(path, kMostBytesOfQueue);
  if (!text) throw UserError(fmt::format("{} cannot be read, or is larger than 16 MB", path));
  const EarlierQueue queue = ParseQueue(*text, path, device_names_);
  const bool is_given = std::ranges::find(options_.given, "scheduler") != options_.given.end();
  if (!is_given) options_.scheduler = FindScheduler(queue.scheduler).name;
  for (const JobRow& row : queue.jobs) earlier_[row.name] = row;
}

// A job that failed goes on from its checkpoint, if it has one. One that diverged begins anew.
void QueueCommand::Retry() {
  const auto found = earlier_.find(options_.retry);
  if (found == earlier_.end()) {
    throw UserError(
        fmt::format("--retry {}: there is no such job in {}", options_.retry, folder_ + kRecord));
  }
  JobRow& row = found->second;
  if (row.outcome == JobOutcome::kDiverged) {
    begins_anew_ = row.name;
  } else if (row.outcome != JobOutcome::kFailed) {
    throw UserError(
        fmt::format("--retry {}: the job is {}, and only a failed or diverged one is "
                    "run again",
                    options_.retry, Name(row.outcome)));
  }
  row.outcome = JobOutcome::kWaiting;
}

// No job may leave queue.json unseen.
void QueueCommand::KeepEarlier(const std::vector<JobRequest>& requests) {
  for (const auto& [name, row] : earlier_) {
    if (std::ranges::find(requests, name, &JobRequest::name) != requests.end()) continue;
    if (!IsOver(row.outcome)) {
      throw UserError(fmt::format(
          "job {} is in {} and not over, but no file in {}/.jobs has it: put the file of jobs "
          "there, under a name that ends in .toml",
          name, folder_ + kRecord, folder_));
    }
    rows_.push_back(row);
  }
}

// As train leaves it.
void QueueCommand::OpenFolder(Prepared& prepared, Job& job) {
  const Checkpoint* const resume = prepared.job.resume.get();
  job.folder = std::move(prepared.folder);
  job.folder->Open(resume ? std::optional(TrainedRows(*resume, job.path)) : std::nullopt);
  TrainOptions options;
  options.spec = prepared.request.spec;
  options.out = job.path;
  options.report = job.report = prepared.request.report;
  options.tensorboard = prepared.request.tensorboard;
  WriteSettings(job.path, options, *job.plan, devices_, *prepared.job.input);
  job.records = std::make_unique<TrainRecords>(
      job.path, options, job.scale,
      resume ? GrowingFile::Begin::kWhereItEnds : GrowingFile::Begin::kEmpty);
}

// In the background: a full disk, which is tried again, must not hold up the other jobs.
std::future<std::vector<std::string>> QueueCommand::Save(const Job& ended,
                                                         const TrainedModel& trained) {
  const double patience = saver_.busy() ? 0 : kSaveSeconds;  // the models behind it wait as long
  auto save = [&ended, trained, patience] {
    std::vector<std::string> warnings;
    WarningObserver observer([&](std::string_view sentence) { warnings.emplace_back(sentence); });
    const SavedResults saved =
        SaveResults(ended.path, trained, *ended.plan, ended.scale, observer, patience);
    if (saved.folder != ended.path) throw Error(warnings.back());
    if (ended.report) WriteReportInto(ended.path);
    return warnings;
  };
  auto task = std::make_shared<std::packaged_task<std::vector<std::string>()>>(std::move(save));
  std::future<std::vector<std::string>> saving = task->get_future();
  saver_.Post([task] { (*task)(); });
  return saving;
}

// `why` may name the folder that has the model.
void QueueCommand::NoteUnsaved(JobId id, const std::string& why) {
  job(id).outcome = JobOutcome::kFailed;
  row(id).error = why;
  OnJobWarning(id, why);
}

void QueueCommand::ConcludeSaved() {
  using namespace std::chrono_literals;
  for (const auto& [id, ended] : jobs_) {
    if (!ended->saving.valid() || ended->saving.wait_for(0s) != std::future_status::ready) continue;
    try {
      for (const std::string& warning : ended->saving.get()) OnJobWarning(id, warning);
    } catch (const std::exception& error) {
      NoteUnsaved(id, WhatOf(error));
    }
    Conclude(id);
  }
}

void QueueCommand::Conclude(JobId id) {
  JobRow& shown = row(id);
  shown.outcome = job(id).outcome;
  job(id).folder.reset();
  const double ended = shown.ended.value_or(shown.arrived);
  Show(fmt::format("{:9} {} after {}", shown.name, Name(shown.outcome),
                   ShortTime(ended - shown.arrived)));
  RecordQueue();
}

// A job that was still to be prepared is not lost: it begins when the queue is resumed.
void QueueCommand::ConcludeAll() {
  saver_.Wait();
  ConcludeSaved();
  for (JobRow& row : rows_) {
    if (row.outcome == JobOutcome::kWaiting) row.outcome = JobOutcome::kInterrupted;
  }
}

void QueueCommand::WriteQueue() {
  for (const auto& [id, place] : row_of_) {
    if (rows_[place].outcome == JobOutcome::kRunning) {
      rows_[place].service = queue_->TimesOf(id).service;
    }
  }
  ReplaceFile(folder_ + kRecord, QueueText(options_.scheduler, device_names_, rows_));
}

std::string QueueCommand::WhyQueueUnwritten() {
  try {
    WriteQueue();
    return "";
  } catch (const std::exception& error) {
    return WhatOf(error);
  }
}

void QueueCommand::RecordQueue() {
  const std::string why = WhyQueueUnwritten();
  if (why.empty() || std::exchange(record_failed_, true)) return;
  console_.Warn(fmt::format("{}; the queue goes on without a record", why));
}

}  // namespace hogbatch
