// What a queue writes: its folder, and those of its jobs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/queue/queue_command.h"
#include "cli/resume.h"
#include "cli/run_files.h"
#include "cli/train_observer.h"
#include "core/error.h"
#include "core/replaced_file.h"
#include "training/model/last_save.h"

namespace hogbatch {

// As train leaves it.
void QueueCommand::OpenFolder(const Prepared& prepared, Job& job) {
  MakeOutputFolder(job.folder);
  if (prepared.resume) {
    CutMetrics(job.folder + "/metrics.jsonl",
               ExamplesOf({.folder = job.folder, .checkpoint = *prepared.resume}));
  } else {
    SetAsideOldRun(job.folder);
  }
  TrainOptions options;
  options.spec = prepared.request.spec;
  options.out = job.folder;
  options.report = job.report = prepared.request.report;
  options.tensorboard = prepared.request.tensorboard;
  ReplaceFile(job.folder + "/options.json",
              OptionsText(options, *prepared.plan,
                          {.started = LocalTime(), .devices = devices_, .input = *prepared.input}));
  ReplaceFile(job.folder + "/config.toml", ConfigOf(options.spec));
  job.records = std::make_unique<TrainRecords>(
      job.folder, options, job.scale,
      prepared.resume ? GrowingFile::Begin::kWhereItEnds : GrowingFile::Begin::kEmpty);
}

// A full disk must not hold up the other jobs.
void QueueCommand::SaveModelOf(const Job& ended, const SavedModel& model) {
  constexpr double kPatience = 10;
  const auto open = std::ranges::count_if(rows_, [](const JobRow& other) {
    return other.state == kJobRunning || other.state == kJobWaiting;
  });
  SetupObserver setup(console_);
  const std::string place = SaveLast(model, ended.folder, setup, open > 0 ? 0 : kPatience);
  if (place != ended.folder) throw Error(fmt::format("its model had to be saved in {}", place));
}

void QueueCommand::WriteQueue() {
  for (const auto& [id, place] : row_of_) {
    if (rows_[place].state == kJobRunning) rows_[place].service = queue_->TimesOf(id).service;
  }
  ReplaceFile(folder_ + "/queue.json", QueueText(options_.scheduler, device_names_, rows_));
}

void QueueCommand::RecordQueue() {
  try {
    WriteQueue();
  } catch (const Error& error) {
    if (!std::exchange(record_failed_, true)) {
      console_.Warn(fmt::format("{}; the queue goes on without a record", error.what()));
    }
  }
}

}  // namespace hogbatch
