#include "cli/queue/queue_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/report.h"
#include "cli/resume.h"
#include "cli/run_files.h"
#include "cli/train_observer.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"
#include "core/text.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytesOfQueue = std::size_t{16} << 20;
constexpr char kJobsFolder[] = "/.jobs";  // no job can have that name
constexpr double kTableSeconds = 0.5, kLineSeconds = 5;

std::string_view StateAfter(const TrainedModel& trained) {
  switch (trained.run.stopped_because) {
    case StopReason::kInterrupted:
      return kJobInterrupted;
    case StopReason::kDiverged:
      return kJobDiverged;
    case StopReason::kNoWorkers:
      return kJobFailed;
    default:
      return kJobDone;
  }
}

// Another thread may prepare a job, so nothing is shown.
class PreparationObserver final : public TrainingObserver {
 public:
  explicit PreparationObserver(std::vector<std::string>& warnings) : warnings_(warnings) {}
  void OnWarning(std::string_view sentence) override { warnings_.emplace_back(sentence); }
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view) override {}

 private:
  std::vector<std::string>& warnings_;
};

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

}  // namespace

QueueCommand::QueueCommand(const QueueCommandOptions& options, Console& console)
    : options_(options), console_(console), devices_(DevicesToTrain(options.devices)) {
  for (const DeviceChoice& choice : devices_.chosen) device_names_.push_back(choice.info.name);
}

int QueueCommand::Run() {
  if (!options_.resume.empty()) ReadStates();
  const std::vector<JobRequest> requests = FirstRequests();
  folder_ = MakeOutputFolder(options_.resume.empty() ? options_.out : options_.resume);
  lock_.emplace(folder_);
  fs::create_directories(folder_ + kJobsFolder);
  if (options_.resume.empty()) {
    for (const std::string& old : JobFiles(folder_ + kJobsFolder)) fs::remove(old);
  }
  if (!options_.jobs.empty()) KeepJobsFile(options_.jobs);
  std::vector<Prepared> prepared;
  for (const JobRequest& request : requests) {
    if (IsOver(request.name)) {
      rows_.push_back(earlier_[request.name]);
      continue;
    }
    prepared.push_back(Prepare(request));
    Tell(prepared.back());
  }
  queue_ = std::make_unique<Queue>(devices_,
                                   QueueOptions{.scheduler = options_.scheduler,
                                                .scheduling = options_.scheduling,
                                                .stays_open = !options_.watch.empty()},
                                   *this);
  for (const Prepared& job : prepared) Add(job);
  prepared.clear();  // data that no job uses any more is freed
  WriteQueue();
  queue_->Run([&interrupts = CountInterrupts()] { return interrupts > 0; });
  console_.EndLive();
  WriteQueue();
  for (const std::string& line : SummaryLines(rows_)) console_.Say(line);
  console_.Say(fmt::format("results   {}", folder_));
  if (options_.json) WriteOutput(QueueText(options_.scheduler, device_names_, rows_));
  if (!queue_->has_hanging_worker()) return ExitCode();
  std::fflush(nullptr);
  ::_exit(ExitCode());
}

void QueueCommand::ReadStates() {
  const std::string path = options_.resume + "/queue.json";
  const auto text = ReadSmallFile(path, kMostBytesOfQueue);
  if (!text) {
    throw UserError(fmt::format("--resume {}: there is no queue.json; name the folder of a queue",
                                options_.resume));
  }
  const EarlierQueue queue = ParseQueue(*text, path, device_names_);
  const bool is_given = std::ranges::find(options_.given, "scheduler") != options_.given.end();
  if (!is_given) options_.scheduler = FindScheduler(queue.scheduler).name;
  for (const JobRow& row : queue.jobs) earlier_[row.name] = row;
  if (options_.retry.empty()) return;
  const auto found = earlier_.find(options_.retry);
  if (found == earlier_.end()) {
    throw UserError(fmt::format("--retry {}: there is no such job in {}", options_.retry, path));
  }
  JobRow& row = found->second;
  if (row.state != kJobFailed && row.state != kJobDiverged) {
    throw UserError(
        fmt::format("--retry {}: the job is {}, and only a failed or diverged one is "
                    "run again",
                    options_.retry, row.state));
  }
  row.state = kJobWaiting;
}

std::vector<JobRequest> QueueCommand::FirstRequests() {
  std::vector<JobRequest> all;
  std::vector<std::string> files;
  if (!options_.jobs.empty()) files.push_back(options_.jobs);
  if (!options_.resume.empty()) files = JobFiles(options_.resume + kJobsFolder);
  for (const std::string& file : files) {
    const std::vector<JobRequest> jobs = ReadJobs(file, fs::path(file).stem());
    all.insert(all.end(), jobs.begin(), jobs.end());
  }
  CheckNames(all);
  return all;
}

// --resume reads it again.
void QueueCommand::KeepJobsFile(const std::string& path) {
  const auto text = ReadSmallFile(path, kMostBytesOfQueue);
  if (!text) throw UserError(fmt::format("{}: cannot be read any more", path));
  ReplaceFile(folder_ + kJobsFolder + "/" + fs::path(path).filename().string(), *text);
}

// A job of a resumed queue that needs nothing more.
bool QueueCommand::IsOver(const std::string& name) const {
  const auto found = earlier_.find(name);
  if (found == earlier_.end()) return false;
  const std::string& state = found->second.state;
  return state == kJobDone || state == kJobFailed || state == kJobDiverged;
}

// Also called on a thread of its own, one at a time.
QueueCommand::Prepared QueueCommand::Prepare(JobRequest request) {
  Prepared job{.request = std::move(request)};
  if (!job.request.error.empty()) return job;
  try {
    PreparationObserver setup(job.warnings);
    Validate(job.request.spec);
    job.input = inputs_.Read(job.request.spec, setup);
    job.plan =
        PlanInQueue(job.request.spec, *job.input, devices_, FindScheduler(options_.scheduler),
                    job.request.exclusive ? Sharing::kExclusive : Sharing::kAnyWorkers, setup);
    if (earlier_.contains(job.request.name) && job.request.name != options_.retry) {
      FindCheckpoint(job);
    }
  } catch (const UserError& error) {
    job.request.error = error.what();
  } catch (const Error& error) {
    job.request.error = error.what();
  }
  return job;
}

void QueueCommand::FindCheckpoint(Prepared& job) const {
  for (const std::string& path : ListCheckpoints(options_.resume + "/" + job.request.name)) {
    try {
      auto checkpoint = std::make_shared<Checkpoint>(ReadCheckpoint(path));
      CheckSameRows(*checkpoint, *job.input);
      job.resume = std::move(checkpoint);
      return;
    } catch (const UserError& error) {
      job.warnings.emplace_back(error.what());
    }
  }
}

void QueueCommand::Tell(const Prepared& job) {
  for (const std::string& warning : job.warnings) {
    console_.Warn(fmt::format("job {}: {}", job.request.name, warning));
  }
  if (job.request.error.empty()) return;
  console_.Warn(fmt::format("job {}: {}", job.request.name, job.request.error));
}

void QueueCommand::Add(const Prepared& prepared) {
  const JobRequest& request = prepared.request;
  rows_.push_back({.name = request.name, .epochs = request.spec.epochs});
  std::string error = request.error;
  try {
    if (error.empty()) AddToQueue(prepared);
  } catch (const Error& failure) {
    error = failure.what();
    console_.Warn(fmt::format("job {}: {}", request.name, error));
  }
  if (error.empty()) return;
  rows_.back().state = kJobFailed;
  rows_.back().error = error;
}

void QueueCommand::AddToQueue(const Prepared& prepared) {
  const JobRequest& request = prepared.request;
  auto job = std::make_unique<Job>();
  job->folder = folder_ + "/" + request.name;
  job->plan = prepared.plan;
  job->scale = {.loss = prepared.plan->work.model.loss,
                .target_deviation = prepared.input->training.schema.target_deviation};
  OpenFolder(prepared, *job);
  const JobId id = queue_->Add(
      {.plan = *prepared.plan,
       .input = prepared.input,
       .place = {.sharing = request.exclusive ? Sharing::kExclusive : Sharing::kAnyWorkers,
                 .priority = static_cast<int>(request.priority),
                 .arrives = prepared.resume ? 0 : request.arrives},
       .keep = KeepIn(job->folder, request.spec, *prepared.plan, options_.checkpoints.every),
       .resume = prepared.resume});
  rows_.back().arrived = queue_->TimesOf(id).arrived;
  jobs_[id] = std::move(job);
  row_of_[id] = rows_.size() - 1;
}

void QueueCommand::OnPreparation(std::string_view worker, double) {
  const std::string line = fmt::format("preparing {} ...", worker);
  console_.Live({&line, 1});
}

void QueueCommand::OnJobBegan(JobId id) {
  row(id).state = kJobRunning;
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
    } catch (const Error& error) {
      reported.record_failed = true;
      OnJobWarning(id, fmt::format("{}; training goes on without a record", error.what()));
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
  shown.state = StateAfter(trained);
  shown.reason = Name(trained.run.stopped_because);
  shown.epoch = trained.run.totals.epoch;
  shown.began = times.began;
  shown.ended = times.ended;
  shown.service = times.service;
  if (trained.run.stopped_because == StopReason::kNoWorkers) {
    shown.error = times.began ? "no device is left for it" : "there is no usable device for it";
  }
  try {
    if (trained.model) SaveModelOf(ended, *trained.model);
    ReplaceFile(ended.folder + "/summary.json",
                SummaryText(trained.run, FactsOf(*ended.plan, ended.folder), ended.scale));
    if (ended.report) WriteReportInto(ended.folder);
  } catch (const Error& error) {
    shown.state = kJobFailed;
    shown.error = error.what();
  }
  ended.records.reset();
  Show(fmt::format("{:9} {} after {}", shown.name, shown.state,
                   ShortTime(times.ended - times.arrived)));
  RecordQueue();
}

void QueueCommand::OnWorkerFailed(std::string_view worker, std::string_view what) {
  console_.Warn(fmt::format("worker {} failed: {}", worker, what));
}

void QueueCommand::OnPoll() {
  ShowTable();
  Watch();
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
    if (rows_[i].state == kJobRunning) console_.Say(lines[i + 1]);
  }
}

int QueueCommand::ExitCode() const {
  const auto any = [&](std::string_view state) {
    return std::ranges::find(rows_, state, &JobRow::state) != rows_.end();
  };
  if (any(kJobInterrupted)) return kExitInterrupted;
  return any(kJobFailed) || any(kJobDiverged) ? kExitUser : kExitOk;
}

}  // namespace hogbatch
