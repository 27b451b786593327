#include "training/train.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/overwrite.h"
#include "cli/interrupts.h"
#include "cli/report.h"
#include "cli/reports/introduce.h"
#include "cli/reports/train_records.h"
#include "cli/resume.h"
#include "cli/run_files.h"
#include "cli/run_folder.h"
#include "cli/sweep/sweep_files.h"
#include "cli/train_observer.h"
#include "core/replaced_file.h"
#include "core/run_trace.h"
#include "report/trace_file.h"
#include "training/checkpoint/resumed_options.h"
#include "training/model/labels.h"
#include "training/plan_notes.h"

namespace hogbatch {
namespace {

// The file of --trace. It is opened before training begins, so that a wrong path costs no run.
class TraceFile {
 public:
  TraceFile(const TrainOptions& options, std::size_t workers) : path_(options.trace) {
    if (path_.empty()) return;
    RefuseOverwrite(path_, InputsOf(options.spec));
    RefuseOverwrite(path_, RunFiles(options.out));
    file_.emplace(path_, NamedBy::kUser);
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
      if (NeverImproved(trained.run)) {
        console.Warn(DivergenceAdvice(trained, plan.learning_rate.lr));
        return kExitUser;
      }
      return observer.record_failed() ? kExitMachine : kExitOk;
  }
}

TrainOptions WithResumed(TrainOptions options, const std::optional<ResumedRun>& resumed) {
  if (!resumed) return options;
  options.spec = ResumedSpec(options.spec, options.given, resumed->checkpoint, resumed->folder);
  options.out = resumed->folder;
  options.report = options.report || HadFlag(*resumed, "report");
  options.tensorboard = options.tensorboard || HadFlag(*resumed, "tensorboard");
  return options;
}

// A resumed run has the model of --init in its checkpoint, so the file may be gone.
void ValidateOptions(TrainingSpec spec, const std::optional<SavedModel>& start) {
  if (start) spec.init = TrainingSpec().init;
  Validate(spec);
}

}  // namespace

int Train(const TrainOptions& asked) {
  if (asked.ensemble > 0 || asked.folds > 0) return RunSweep(SweepOf(asked));
  Console console(VerbosityOf(asked.terminal));
  const std::string found = FindRun(asked, console);
  if (found.empty() && !asked.out.empty()) RefuseSweep(asked.out);
  // It is locked before the run in it is read.
  RunFolder run_folder(found.empty() ? asked.out : found, RunFolder::IfInterrupted::kRemoveUnused);
  std::optional<ResumedRun> resumed;
  if (!found.empty()) resumed = ReadRun(found, console);
  const TrainOptions options = WithResumed(asked, resumed);
  std::optional<SavedModel> start;
  if (resumed) start = StartOf(resumed->checkpoint, resumed->folder);
  ValidateOptions(options.spec, start);
  const Devices devices = DevicesToTrain(options.spec.devices);
  if (!options.terminal.quiet) {
    for (const std::string& note : NotesOn(devices)) console.Warn(note);
  }
  TraceFile trace(options, devices.chosen.size());
  SetupObserver setup(console);
  const TrainingInput input = ReadInput(options.spec, setup, std::move(start));
  if (resumed) CheckSameRows(resumed->checkpoint, input);  // before any file of the run changes
  const TrainingPlan plan = Plan(options.spec, input, devices, setup);

  const std::string& folder =
      run_folder.Open(resumed ? std::optional(ExamplesOf(*resumed)) : std::nullopt);
  for (const std::string& line : IntroductionLines(options.spec, plan, input, folder)) {
    console.Say(line);
  }
  if (resumed) console.Say(ResumeLine(*resumed, input.training.train_rows));
  WriteSettings(folder, options, plan, devices, input);
  const MetricScale scale = ScaleOf(plan.work.model, input.training.schema);
  TrainRecords records(folder, options, scale,
                       resumed ? GrowingFile::Begin::kWhereItEnds : GrowingFile::Begin::kEmpty);
  TrainObserver observer(console, records, plan.rules.epochs, scale, plan.work.devices.size());
  bool hangs = false;
  return RunWorkers(
      console, [&] { return hangs; },
      [&] {
        const TrainedModel trained =
            Train(plan, input, observer,
                  {.stop_requested = [&interrupts = HandleInterrupts()] { return interrupts > 0; },
                   .trace = trace.trace(),
                   .keep = KeepIn(folder, options.spec, plan, options.checkpoints.every),
                   .resume = resumed ? &resumed->checkpoint : nullptr,
                   .has_hanging_worker = &hangs});
        console.EndLive();

        const SavedResults saved = SaveResults(folder, trained, plan, scale, observer);
        for (const std::string& line : ConclusionLines(trained, scale, saved.folder)) {
          console.Say(line);
        }
        // The rest of the run's files cannot be written either.
        if (saved.folder != folder) return kExitMachine;
        if (options.report) console.Say(fmt::format("report    {}", WriteReportInto(folder)));
        trace.Save(records, plan, console);
        if (options.terminal.json) WriteOutput(saved.summary);
        return ExitCode(trained, plan, console, observer);
      });
}

}  // namespace hogbatch
