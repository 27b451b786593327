#include "cli/sweep/sweep_command.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/reports/introduce.h"
#include "cli/sweep/fold_report.h"
#include "cli/sweep/sweep_report.h"
#include "cli/train_observer.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/guard/folder.h"
#include "core/replaced_file.h"
#include "core/text.h"
#include "report/sweep_page.h"
#include "training/model/model_file.h"

namespace hogbatch {
namespace {

constexpr double kTableSeconds = 0.5;
constexpr std::size_t kLiveTrials = 10, kLastTrials = 20;

std::string VariedText(const SweepSpec& spec) {
  std::string text;
  for (const Variation& variation : spec.varied) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", variation.name);
  }
  return text.empty() ? "nothing varies" : "of " + text;
}

std::string LengthText(const std::vector<double>& rungs) {
  std::string text;
  for (const double rung : rungs) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", rung);
  return rungs.size() > 1     ? "rungs of " + text + " epochs"
         : rungs.front() == 1 ? text + " epoch each"
                              : text + " epochs each";
}

}  // namespace

SweepCommand::SweepCommand(const SweepCommandOptions& options,
                           const std::optional<SweepRecord>& resumed, Console& console)
    : options_(resumed ? ResumedOptions(options, *resumed) : options),
      console_(console),
      spec_(options_.training.Spec(options_.search)),
      trials_(MakeTrials(spec_)),
      record_(resumed.value_or(SweepRecord{})),
      is_resumed_(resumed.has_value()),
      max_seconds_(spec_.base.max_time.empty() ? std::numeric_limits<double>::infinity()
                                               : ParseDuration("--max-time", spec_.base.max_time)),
      folder_(is_resumed_ ? options_.resume : options_.out) {}

int SweepCommand::Run() {
  const EarlierSweep earlier =
      is_resumed_ ? ReadResults(folder_, record_, trials_, spec_.Rungs().size()) : EarlierSweep{};
  SetupObserver setup(console_);
  SweepPlan plan = PlanSweep(spec_, trials_, setup);
  if (is_resumed_) RefuseOtherRows(folder_, record_, plan.inputs.front().rows);
  folder_ = MakeOutputFolder(folder_);
  if (!is_resumed_) {
    lock_.emplace(folder_);
    RefuseSweep(folder_);  // which may have begun meanwhile
  }
  for (const char* inner : {"/trials", "/members", "/ensemble"}) RefuseLink(folder_ + inner);
  if (!is_resumed_) SetAsideOldRun(folder_);
  record_.options = options_.training.Texts();
  record_.search = SearchTexts(options_.search);
  record_.rows = plan.inputs.front().rows;
  recorder_.emplace(folder_, trials_.size());
  run_ = std::make_unique<SweepRun>(std::move(plan),
                                    SweepFolder{.path = folder_,
                                                .checkpoint_every = options_.checkpoints.every,
                                                .keeps_members = spec_.is_ensemble()},
                                    earlier, *this);
  Introduce();
  began_ = SteadySeconds();
  return RunWorkers(
      console_, [this] { return run_->has_hanging_worker(); }, [this] { return RunTrials(); });
}

int SweepCommand::RunTrials() {
  if (!run_->complete()) {
    Record();
    run_->Run([this, &interrupts = HandleInterrupts()] { return interrupts > 0 || TimeIsUp(); });
  }
  console_.EndLive();
  Conclude();
  const int code = ExitCode();
  return code == kExitOk && EnsembleFollows() ? TrainEnsemble() : code;
}

void SweepCommand::Introduce() const {
  const SweepPlan& plan = run_->plan();
  for (const std::string& line : DataLines(*plan.inputs.front().input)) console_.Say(line);
  if (spec_.is_ensemble()) {
    console_.Say(fmt::format("ensemble  {} members with seeds from {} on, {}", plan.trials.size(),
                             spec_.base.seed, LengthText(plan.rungs)));
  } else {
    SayTrials(plan);
  }
  console_.Say(fmt::format("training  {}", run_->LaneGroupsText()));
  console_.Say(fmt::format("results   {}", folder_));
}

void SweepCommand::SayTrials(const SweepPlan& plan) const {
  if (has_folds()) {
    const std::size_t folds = plan.inputs.size(), settings = plan.trials.size() / folds;
    console_.Say(fmt::format(
        "folds     {} trainings{}, each validated on another part of the rows; {}", folds,
        settings == 1 ? ""
                      : fmt::format(" of each of {} settings ({} {})", settings,
                                    Name(spec_.ChosenSearch()), VariedText(spec_)),
        LengthText(plan.rungs)));
    return;
  }
  const std::size_t groups = GroupTrials(plan.trials).size();
  console_.Say(fmt::format("sweep     {} trial{} ({} {}) in {} group{} of equal shape, {}",
                           plan.trials.size(), plan.trials.size() == 1 ? "" : "s",
                           Name(spec_.ChosenSearch()), VariedText(spec_), groups,
                           groups == 1 ? "" : "s", LengthText(plan.rungs)));
}

std::vector<std::string> SweepCommand::Table(std::size_t most) const {
  return ShowsSettings() ? FoldTable(Results(), most) : TrialTable(Results(), most);
}

SweepResults SweepCommand::Results() const {
  return {.metric = run_->metric(), .trials = trials_, .results = run_->results()};
}

double SweepCommand::Seconds() const { return record_.seconds + SteadySeconds() - began_; }

bool SweepCommand::TimeIsUp() const { return Seconds() >= max_seconds_; }

std::optional<double> SweepCommand::SecondsLeft() const {
  const double expected = ExpectedEpochs(trials_.size(), run_->plan().rungs, run_->plan().eta);
  std::optional<double> left = hogbatch::SecondsLeft(Results(), expected, Seconds());
  if (left) left = std::min(*left, std::max(0.0, max_seconds_ - Seconds()));
  return left;
}

void SweepCommand::OnPreparation(std::string_view worker, double) {
  const std::string line = fmt::format("preparing {} ...", worker);
  console_.Live({&line, 1});
}

void SweepCommand::OnTrial(std::size_t trial) {
  recorder_->OnTrial(trial);
  const TrialState state = run_->results()[trial].state;
  if (state == TrialState::kRunning || console_.verbosity() == Verbosity::kLive) return;
  console_.Say(TrialLine(Results(), trial));
}

void SweepCommand::OnBest(std::size_t) { recorder_->OnBest(); }

void SweepCommand::OnPoll() {
  const double now = SteadySeconds();
  if (recorder_->IsDue(now)) Record();
  if (console_.verbosity() != Verbosity::kLive || now - shown_at_ < kTableSeconds) return;
  shown_at_ = now;
  std::vector<std::string> lines = Table(kLiveTrials);
  lines.push_back(SweepProgressLine(Results(), SecondsLeft()));
  console_.LiveTable(lines);
}

SweepRecord SweepCommand::RecordNow() const {
  SweepRecord record = record_;
  record.seconds = Seconds();
  record.best = run_->best();
  return record;
}

void SweepCommand::Record() {
  const std::optional<std::string> error = recorder_->TakeError();
  if (error && !std::exchange(record_failed_, true)) {
    console_.Warn(fmt::format("{}; the sweep goes on without a record", *error));
  }
  recorder_->Post(RecordNow(), Results(), run_->TakeUnneeded(), SteadySeconds());
}

void SweepCommand::Conclude() {
  const SweepResults results = Results();
  recorder_->Write(RecordNow(), results, run_->TakeUnneeded());
  ReplaceFile(folder_ + "/trials.csv", TrialsCsv(results));
  const report::SweepView view = MakeSweepView(results, run_->plan(), spec_.ChosenSearch());
  ReplaceFile(folder_ + "/sweep.html", report::SweepPage(view));
  ReplaceFile(folder_ + "/sweep.svg", report::SweepPicture(view));
  if (has_folds()) ReplaceFile(folder_ + "/folds.csv", FoldsCsv(results));
  for (const std::string& line : Table(kLastTrials)) console_.Say(line);
  const bool shows_settings = ShowsSettings();
  const std::size_t all = shows_settings ? trials_.size() / CountFolds(trials_) : trials_.size();
  if (all > kLastTrials) {
    console_.Say(fmt::format("… {} more in {}/{}.csv", all - kLastTrials, folder_,
                             shows_settings ? "folds" : "trials"));
  }
  console_.Say(fmt::format("{}{}",
                           run_->complete()      ? "ended     "
                           : run_->lacks_model() ? "stopped   a model could not be saved; "
                           : TimeIsUp()          ? "stopped   the time is up; "
                                                 : "stopped   it was interrupted; ",
                           SweepProgressLine(results, {})));
  if (!run_->complete()) {
    console_.Say(fmt::format("go on     hogbatch sweep --resume {}", folder_));
  }
  if (has_folds()) ShowBestSetting(results);
  if (!std::isfinite(run_->best().loss)) {
    console_.Warn(has_folds() ? "no setting has completed all of its folds, so there is no mean "
                                "and no model"
                              : "no trial has ended with a validation loss, so there is no model");
    return;
  }
  if (spec_.is_ensemble() && run_->complete()) {
    Join();
  } else if (!has_folds()) {
    ShowBest(results);
  }
  console_.Say(fmt::format("model     {}", ModelPath(folder_)));
  console_.Say(fmt::format("page      {}/sweep.html", folder_));
}

bool SweepCommand::EnsembleFollows() const {
  return run_->complete() && options_.search.ensemble > 0 && !spec_.is_ensemble();
}

void SweepCommand::ShowBest(const SweepResults& results) {
  const std::size_t best = run_->best().trial.value_or(Ranking(results.results).front());
  const DeviceKind kind = run_->plan().devices.chosen.front().info.kind;
  console_.Say(fmt::format("best      {}", TrialLine(results, best)));
  console_.Say(fmt::format("again     {}", TrainCommand(trials_[best], kind)));
  if (options_.terminal.json && !EnsembleFollows()) {
    WriteOutput(TrialsJsonl({.metric = results.metric,
                             .trials = results.trials.subspan(best, 1),
                             .results = results.results.subspan(best, 1)}));
  }
}

void SweepCommand::ShowBestSetting(const SweepResults& results) {
  const FoldMeans means = MeansOfFolds(results).front();
  const Trial setting = SettingOf(results, means);
  const DeviceKind kind = run_->plan().devices.chosen.front().info.kind;
  if (options_.terminal.json) WriteOutput(FoldsJson(results, folder_));
  if (means.folds == 0) return;
  if (!setting.values.empty()) console_.Say(fmt::format("best      {}", TrialText(setting)));
  console_.Say(fmt::format("folds     {}", FoldLine(means, results.metric)));
  console_.Say(fmt::format("again     {}", TrainCommand(setting, kind)));
}

void SweepCommand::Join() {
  ensemble_ = JoinSavedMembers(folder_, run_->results());
  const EnsembleQuality quality =
      QualityOf(*ensemble_, *run_->plan().inputs.front().input, spec_.base.devices);
  const auto members = static_cast<std::size_t>(ensemble_->spec.lanes);
  console_.Say(fmt::format("ensemble  {}", EnsembleLine(Results(), quality, members)));
  if (options_.terminal.json) WriteOutput(EnsembleJson(Results(), quality, folder_));
}

int SweepCommand::TrainEnsemble() {
  SweepCommandOptions options = options_;
  options.out = folder_ + "/ensemble";
  options.resume.clear();
  options.training = EnsembleOptions(Results(), max_seconds_ - Seconds());
  options.given.clear();
  if (std::isfinite(max_seconds_)) options.given = {"max-time"};
  std::optional<FolderLock> lock;
  std::optional<SweepRecord> resumed;
  if (HoldsSweep(options.out)) {
    options.resume = std::exchange(options.out, "");
    lock.emplace(options.resume);
    resumed = ReadSweep(options.resume);
  }
  console_.Say("");
  SweepCommand members(options, resumed, console_);
  const int code = members.Run();
  if (members.ensemble()) {
    SaveModel(ModelPath(folder_), *members.ensemble());
    console_.Say(fmt::format("model     {} is the ensemble, too", ModelPath(folder_)));
  }
  return code;
}

int SweepCommand::ExitCode() const {
  if (run_->lacks_model()) return kExitMachine;
  if (!run_->complete() && !TimeIsUp()) return kExitInterrupted;
  return std::isfinite(run_->best().loss) ? kExitOk : kExitUser;
}

}  // namespace hogbatch
