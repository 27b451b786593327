#include "training/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "cli/reports/introduce.h"
#include "cli/reports/records.h"
#include "cli/train_observer.h"
#include "core/replaced_file.h"

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
  SetupObserver setup(console);
  const TrainingInput input = ReadInput(options.spec, setup);
  const TrainingPlan plan = Plan(options.spec, input, devices, setup);

  const std::string folder = MakeOutputFolder(options.out);
  SetAsideOldRun(folder);
  for (const std::string& line : IntroductionLines(options.spec, plan, input, folder)) {
    console.Say(line);
  }
  ReplaceFile(folder + "/options.json", OptionsText(options, plan));
  const MetricScale scale{.loss = plan.work.model.loss,
                          .target_deviation = input.training.schema.target_deviation};
  TrainObserver observer(console, folder + "/metrics.jsonl", plan.rules.epochs, scale,
                         plan.work.devices.size());
  const TrainedModel trained =
      Train(plan, input, observer, [&interrupts = CountInterrupts()] { return interrupts > 0; });
  console.EndLive();

  if (trained.model) SaveModel(folder + "/model.safetensors", *trained.model);
  const std::string summary = SummaryText(trained.run, FactsOf(plan, folder), scale);
  ReplaceFile(folder + "/summary.json", summary);
  for (const std::string& line : ConclusionLines(trained, scale, folder)) console.Say(line);
  if (options.json) WriteOutput(summary);
  return ExitCode(trained, plan, console, observer);
}

}  // namespace hogbatch
