#include "training/train.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <optional>
#include <span>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "cli/report.h"
#include "cli/reports/introduce.h"
#include "cli/reports/records.h"
#include "cli/train_observer.h"
#include "cli/train_records.h"
#include "core/replaced_file.h"
#include "core/run_trace.h"
#include "report/trace_file.h"

namespace hogbatch {
namespace {

Verbosity ChooseVerbosity(const TrainOptions& options) {
  if (options.quiet || options.json) return Verbosity::kSilent;
  return IsLiveTerminal(STDOUT_FILENO) ? Verbosity::kLive : Verbosity::kPlain;
}

SummaryFacts FactsOf(const TrainingPlan& plan, const std::string& folder) {
  SummaryFacts facts{.algorithm = plan.algorithm,
                     .seed = static_cast<std::int64_t>(plan.seed),
                     .parameters = Layout(plan.work.model).parameters,
                     .out = folder};
  for (const DeviceChoice& choice : plan.work.devices) facts.devices.push_back(choice.info.name);
  return facts;
}

// The file of --trace. It is opened before training begins, so that a wrong path costs no run.
class TraceFile {
 public:
  TraceFile(const std::string& path, std::size_t workers) : path_(path) {
    if (path_.empty()) return;
    file_.emplace(path_);
    trace_.emplace(workers);
  }

  RunTrace* trace() { return trace_ ? &*trace_ : nullptr; }

  void Save(const TrainRecords& records, const TrainingPlan& plan, Console& console) {
    if (!file_) return;
    std::vector<std::string> workers;
    for (const DeviceChoice& choice : plan.work.devices) workers.push_back(choice.info.name);
    report::WriteTrace(*trace_, workers, records.throughput(), [&](std::string_view part) {
      file_->Write(std::as_bytes(std::span(part)));
    });
    file_->Commit();
    console.Say(fmt::format("trace     {}", path_));
  }

 private:
  std::string path_;
  std::optional<ReplacedFile> file_;
  std::optional<RunTrace> trace_;
};

std::string Now() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
}

int ExitCode(const TrainedModel& trained, const TrainingPlan& plan, Console& console,
             const TrainObserver& observer) {
  switch (trained.run.stopped_because) {
    case StopReason::kDiverged:
      console.Warn(DivergenceAdvice(trained, plan.learning_rate.lr));
      return kExitUser;
    case StopReason::kNoWorkers:
      console.Warn(fmt::format("training ended early because its last worker failed{}",
                               trained.model ? "; the model so far was saved" : ""));
      return kExitMachine;
    case StopReason::kInterrupted:
      return kExitInterrupted;
    default:
      return observer.record_failed() ? kExitMachine : kExitOk;
  }
}

void WarnOfThreads(const TrainOptions& options, const Devices& devices, Console& console) {
  const int threads = CountWorkers(devices.chosen).cpu;
  if (options.quiet || threads <= devices.cores) return;
  console.Warn(fmt::format("{} workers share {} cores; more workers than cores rarely help",
                           threads, devices.cores));
}

}  // namespace

int Train(const TrainOptions& options) {
  Validate(options.spec);
  Console console(ChooseVerbosity(options));
  const Devices devices = DevicesToTrain(options.spec.devices);
  WarnOfThreads(options, devices, console);
  // A folder named by the user is checked before a large file is read. A dated one is made when
  // needed.
  if (!options.out.empty()) MakeOutputFolder(options.out);
  TraceFile trace(options.trace, devices.chosen.size());
  SetupObserver setup(console);
  const TrainingInput input = ReadInput(options.spec, setup);
  const TrainingPlan plan = Plan(options.spec, input, devices, setup);

  const std::string folder = MakeOutputFolder(options.out);
  SetAsideOldRun(folder);
  for (const std::string& line : IntroductionLines(options.spec, plan, input, folder)) {
    console.Say(line);
  }
  ReplaceFile(folder + "/options.json",
              OptionsText(options, plan, {.started = Now(), .devices = devices, .input = input}));
  const MetricScale scale{.loss = plan.work.model.loss,
                          .target_deviation = input.training.schema.target_deviation};
  TrainRecords records(folder, options, scale);
  TrainObserver observer(console, records, plan.rules.epochs, scale, plan.work.devices.size());
  const TrainedModel trained = Train(
      plan, input, observer, [&interrupts = CountInterrupts()] { return interrupts > 0; },
      trace.trace());
  console.EndLive();

  if (trained.model) SaveModel(folder + "/model.safetensors", *trained.model);
  const std::string summary = SummaryText(trained.run, FactsOf(plan, folder), scale);
  ReplaceFile(folder + "/summary.json", summary);
  for (const std::string& line : ConclusionLines(trained, scale, folder)) console.Say(line);
  if (options.report) console.Say(fmt::format("report    {}", WriteReportInto(folder)));
  trace.Save(records, plan, console);
  if (options.json) WriteOutput(summary);
  return ExitCode(trained, plan, console, observer);
}

}  // namespace hogbatch
