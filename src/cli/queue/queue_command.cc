#include "cli/queue/queue_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/run_files.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/guard/folder.h"
#include "core/text.h"
#include "training/model/labels.h"

namespace hogbatch {
namespace {

constexpr double kTableSeconds = 0.5, kLineSeconds = 5;

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

QueueCommand::QueueCommand(const QueueCommandOptions& options, Console& console)
    : options_(options),
      console_(console),
      devices_(DevicesToTrain(options.devices)),
      watched_(options.watch) {
  for (const DeviceChoice& choice : devices_.chosen) device_names_.push_back(choice.info.name);
  if (!options.watch.empty()) preparer_.emplace();
}

int QueueCommand::Run() {
  const std::vector<JobRequest> requests = Open();
  KeepEarlier(requests);
  std::vector<Prepared> prepared;
  for (const JobRequest& request : requests) {
    Accept(request);
    if (IsOver(rows_.back().outcome)) continue;
    prepared.push_back(Prepare(request));
    Announce(prepared.back());
  }
  queue_ = std::make_unique<Queue>(devices_,
                                   QueueOptions{.scheduler = options_.scheduler,
                                                .scheduling = options_.scheduling,
                                                .stays_open = !options_.watch.empty()},
                                   *this);
  for (Prepared& job : prepared) Add(job);
  prepared.clear();  // data that no job uses any more is freed
  WriteQueue();
  return RunWorkers(
      console_, [this] { return queue_->has_hanging_worker(); }, [this] { return RunJobs(); });
}

int QueueCommand::RunJobs() {
  try {
    queue_->Run([&interrupts = HandleInterrupts()] { return interrupts > 0; });
  } catch (...) {
    saver_.Wait();  // for the models of jobs that have ended
    throw;
  }
  ConcludeAll();
  console_.EndLive();
  const std::string unwritten = WhyQueueUnwritten();
  for (const std::string& line : SummaryLines(rows_)) console_.Say(line);
  console_.Say(fmt::format("results   {}", folder_));
  if (!unwritten.empty()) {
    console_.Warn(fmt::format(
        "{}; put that right, and 'hogbatch queue --resume {}' runs again what is not recorded",
        unwritten, folder_));
  }
  if (options_.terminal.json) {
    try {
      WriteOutput(QueueText(options_.scheduler, device_names_, rows_));
    } catch (const OutputClosed&) {
      // Nobody reads it. The exit code is that of the jobs.
    }
  }
  return unwritten.empty() ? ExitCode() : kExitMachine;
}

JobRow* QueueCommand::FindRow(std::string_view name) {
  const auto found = std::ranges::find(rows_, name, &JobRow::name);
  return found == rows_.end() ? nullptr : &*found;
}

// Times count from the beginning of this run.
void QueueCommand::Accept(const JobRequest& request) {
  const auto found = earlier_.find(request.name);
  if (found != earlier_.end() && IsOver(found->second.outcome)) {
    rows_.push_back(found->second);
  } else {
    rows_.push_back({.name = request.name,
                     .epoch = found == earlier_.end() ? 0 : found->second.epoch,
                     .epochs = request.spec.epochs});
  }
}

// Also called on another thread, one at a time.
QueueCommand::Prepared QueueCommand::Prepare(JobRequest request) {
  Prepared prepared{.request = std::move(request)};
  const JobRequest& job = prepared.request;
  prepared.job.error = job.error;
  if (!job.error.empty()) return prepared;
  try {
    const std::string folder = folder_ + "/" + job.name;
    const bool goes_on = resumed_.contains(job.name) && job.name != begins_anew_;
    RefuseLink(folder);
    prepared.folder = std::make_unique<RunFolder>(folder);
    prepared.job =
        PrepareJob({.spec = job.spec,
                    .sharing = job.exclusive ? Sharing::kExclusive : Sharing::kAnyWorkers,
                    .resume_from = goes_on ? folder : ""},
                   devices_, FindScheduler(options_.scheduler), inputs_);
  } catch (const std::exception& error) {
    prepared.job.error = WhatOf(error);
  }
  return prepared;
}

void QueueCommand::Announce(const Prepared& prepared) {
  for (const std::string& warning : prepared.job.warnings) {
    console_.Warn(fmt::format("job {}: {}", prepared.request.name, warning));
  }
  if (prepared.job.error.empty()) return;
  console_.Warn(fmt::format("job {}: {}", prepared.request.name, prepared.job.error));
}

// What goes wrong with one job must not end the others.
void QueueCommand::Add(Prepared& prepared) {
  std::string error = prepared.job.error;
  try {
    if (error.empty()) AddToQueue(prepared);
  } catch (const std::exception& failure) {
    error = WhatOf(failure);
    console_.Warn(fmt::format("job {}: {}", prepared.request.name, error));
  }
  if (error.empty()) return;
  JobRow& failed = *FindRow(prepared.request.name);
  failed.outcome = JobOutcome::kFailed;
  failed.error = error;
  prepared.folder.reset();
}

void QueueCommand::AddToQueue(Prepared& prepared) {
  const JobRequest& request = prepared.request;
  const PreparedJob& ready = prepared.job;
  const TrainingPlan& plan = ready.plan.value();
  auto job = std::make_unique<Job>();
  job->path = folder_ + "/" + request.name;
  job->plan = plan;
  job->scale = ScaleOf(plan.work.model, ready.input->training.schema);
  OpenFolder(prepared, *job);
  const JobId id = queue_->Add(
      {.plan = plan,
       .input = ready.input,
       .sharing = {.workers = request.exclusive ? Sharing::kExclusive : Sharing::kAnyWorkers,
                   .priority = static_cast<int>(request.priority),
                   .arrives = ready.resume ? 0 : request.arrives},
       .keep = KeepIn(job->path, request.spec, plan, options_.checkpoints.every),
       .resume = ready.resume});
  JobRow* const added = FindRow(request.name);
  added->arrived = queue_->TimesOf(id).arrived;
  row_of_[id] = static_cast<std::size_t>(added - rows_.data());
  jobs_[id] = std::move(job);
}

void QueueCommand::OnPreparation(std::string_view worker, double) {
  const std::string line = fmt::format("preparing {} ...", worker);
  console_.Live({&line, 1});
}

void QueueCommand::OnJobBegan(JobId id) {
  row(id).outcome = JobOutcome::kRunning;
  row(id).began = queue_->TimesOf(id).began;
  Show(fmt::format("{:9} begins", row(id).name));
  RecordQueue();
}

void QueueCommand::OnProgress(JobId id, const Progress& progress) {
  Job& reported = job(id);
  JobRow& shown = row(id);
  if (!reported.record_failed) {
    try {
      reported.records->Add(progress);
    } catch (const std::exception& error) {
      reported.record_failed = true;
      OnJobWarning(id, fmt::format("{}; training goes on without a record", WhatOf(error)));
    }
  }
  if (progress.evaluation) {
    const Evaluation& evaluation = *progress.evaluation;
    const auto& sums = evaluation.valid  ? evaluation.valid
                       : evaluation.test ? evaluation.test
                                         : evaluation.train;
    if (sums && evaluation.epoch > 0) {
      shown.metric = Text(MetricsOf(*sums, reported.scale).front());
    }
    Show(fmt::format("{:9} {}", shown.name, EvaluationLine(progress, reported.scale)));
    return;
  }
  const double service = Sum(queue_->TimesOf(id).service);
  const double span = progress.seconds - reported.shown_at;
  if (span > 0) {
    shown.share =
        (service - reported.shown_service) / span / static_cast<double>(device_names_.size());
  }
  reported.shown_service = service;
  reported.shown_at = progress.seconds;
  shown.epoch = progress.epoch;
  if (progress.running_loss) shown.loss = progress.running_loss;
  shown.seconds_left = progress.seconds_left;
}

void QueueCommand::OnJobWarning(JobId id, std::string_view sentence) {
  console_.Warn(fmt::format("job {}: {}", row(id).name, sentence));
}

void QueueCommand::OnJobEnded(JobId id, const TrainedModel& trained, const JobTimes& times) {
  Job& ended = job(id);
  JobRow& shown = row(id);
  ended.outcome = OutcomeAfter(trained.run.stopped_because);
  shown.reason = Name(trained.run.stopped_because);
  shown.epoch = trained.run.totals.epoch;
  shown.began = times.began;
  shown.ended = times.ended;
  shown.service = times.service;
  if (trained.run.stopped_because == StopReason::kNoWorkers) {
    shown.error = times.began ? "no device is left for it" : "there is no usable device for it";
  }
  ended.records.reset();
  try {
    ended.saving = Save(ended, trained);
  } catch (const std::exception& error) {
    NoteUnsaved(id, WhatOf(error));
    Conclude(id);
  }
}

void QueueCommand::OnWorkerFailed(std::string_view worker, std::string_view what) {
  console_.Warn(fmt::format("worker {} failed, and no job uses it any more: {}", worker, what));
}

// Nothing here may end the jobs that run.
void QueueCommand::OnPoll() {
  try {
    ShowTable();
    ConcludeSaved();
    Watch();
  } catch (const std::exception& error) {
    console_.Warn(WhatOf(error));
  }
}

void QueueCommand::Show(const std::string& line) {
  if (console_.verbosity() != Verbosity::kLive) console_.Say(line);
}

void QueueCommand::ShowTable() {
  const double now = SteadySeconds();
  const bool is_live = console_.verbosity() == Verbosity::kLive;
  if (now - shown_at_ < (is_live ? kTableSeconds : kLineSeconds)) return;
  shown_at_ = now;
  const std::vector<std::string> lines = TableLines(rows_);
  if (is_live) return console_.LiveTable(lines);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].outcome == JobOutcome::kRunning) console_.Say(lines[i + 1]);
  }
}

int QueueCommand::ExitCode() const {
  const auto any = [&](JobOutcome outcome) {
    return std::ranges::find(rows_, outcome, &JobRow::outcome) != rows_.end();
  };
  if (any(JobOutcome::kInterrupted)) return kExitInterrupted;
  if (any(JobOutcome::kFailed) || any(JobOutcome::kDiverged)) return kExitUser;
  const bool lacks_record =
      std::ranges::any_of(jobs_, [](const auto& job) { return job.second->record_failed; });
  return lacks_record ? kExitMachine : kExitOk;
}

}  // namespace hogbatch
