#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "cli/introduce.h"
#include "cli/records.h"
#include "cli/train_observer.h"
#include "core/error.h"
#include "core/replaced_file.h"
#include "datasets/encoding/class_weights.h"
#include "datasets/encoding/fit_labels.h"
#include "runtime/control/coordinator.h"
#include "runtime/control/teams.h"
#include "runtime/executors/executor.h"
#include "runtime/executors/pinning.h"
#include "runtime/store/job_memory.h"
#include "runtime/workers/worker.h"
#include "training/gpu_calibration.h"
#include "training/memory_check.h"
#include "training/model_file.h"
#include "training/observer.h"
#include "training/train_setup.h"

namespace hogbatch {
namespace {

Verbosity ChooseVerbosity(const TrainOptions& options) {
  if (options.quiet || options.json) return Verbosity::kSilent;
  return IsLiveTerminal(STDOUT_FILENO) ? Verbosity::kLive : Verbosity::kPlain;
}

// Before training proper begins.
class SetupObserver final : public TrainingObserver {
 public:
  explicit SetupObserver(Console& console) : console_(console) {}
  void OnActivity(std::string_view what) override {
    if (what.empty()) return console_.EndLive();
    const std::string line = fmt::format("{} ...", what);
    console_.Live({&line, 1});
  }
  void OnWarning(std::string_view sentence) override { console_.Warn(sentence); }
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view) override {}

 private:
  Console& console_;
};

struct TrainingFiles {
  TrainingData training;
  std::optional<Dataset> test;
};

TrainingFiles ReadFiles(const TrainOptions& options, const TrainPlan& plan, Console& console) {
  const auto reading = [&](const std::string& path) {
    const std::string line = fmt::format("reading {} ...", path.empty() ? "the data" : path);
    console.Live({&line, 1});
  };
  reading(options.data);
  TrainingFiles files;
  const ReadOptions read{.label = options.label,
                         .positive = options.positive,
                         .scaling = ParseScaling(options.scale),
                         .valid_fraction = options.valid_fraction,
                         .seed = static_cast<std::uint64_t>(options.seed)};
  // A model that training goes on from keeps its own columns, labels and scaling.
  files.training = plan.start ? ReadToGoOn(options.data, plan.start->schema, read)
                              : ReadTrainingData(options.data, read);
  FitLabels(options.loss, files.training);
  if (!options.test.empty()) {
    reading(options.test);
    files.test = ReadWithSchema(options.test, files.training.schema, Labels::kRequired);
  }
  console.EndLive();
  return files;
}

// All that the run needs beside its data and devices; made before a folder is, so that a refused
// training leaves nothing behind.
struct Start {
  ModelSpec spec;
  std::vector<float> class_weights;
  std::vector<float> weights;
};

Start MakeStart(const TrainOptions& options, TrainPlan& plan, const TrainingData& training) {
  Start start{.spec = MakeSpec(options, plan, training), .class_weights = {}, .weights = {}};
  start.class_weights =
      ParseClassWeights(options.class_weights, training.schema, training.data, training.train_rows);
  plan.max_batch_size = CheckTrainingFits(options, plan, start.spec, training.data);
  start.weights = TakeStartingWeights(options, plan, start.spec, training.schema);
  return start;
}

std::unique_ptr<JobMemory> MakeMemory(const TrainOptions& options, const TrainPlan& plan,
                                      const TrainingFiles& files, const Start& start) {
  const auto workers = static_cast<int>(plan.devices.size());
  auto memory = std::make_unique<JobMemory>(start.spec, files.training.data,
                                            files.test ? &*files.test : nullptr, workers);
  memory->class_weights = start.class_weights;
  memory->optimizer = options.optimizer;
  memory->explicit_momentum = MomentumToApply(options, workers);
  memory->merge = ParseMerge(options.merge);
  memory->teams = static_cast<int>(MakeTeams(InfosOf(plan.devices)).names.size());
  memory->SetWeights(start.weights);
  return memory;
}

Coordinator::Setup MakeSetup(const TrainOptions& options, const TrainPlan& plan,
                             const TrainingFiles& files, const ModelSpec& spec) {
  const TrainingData& training = files.training;
  return {.job = {.model = spec, .train_rows = training.train_rows},
          .rows = {.train = training.train_rows,
                   .valid = training.data.rows - training.train_rows,
                   .test = files.test ? files.test->rows : 0},
          .rules = plan.rules,
          .rates = LearningRate(options.rate, options.epochs),
          .workers = InfosOf(plan.devices),
          .max_batch_size = plan.max_batch_size,
          .merge_rows = MergeRows(options, spec, CountWorkers(plan).all()),
          .seed = static_cast<std::uint64_t>(options.seed)};
}

std::vector<WorkerFactory> MakeFactories(const TrainPlan& plan, JobMemory& memory) {
  std::vector<WorkerFactory> factories;
  for (const DeviceChoice& choice : plan.devices) {
    const auto id = static_cast<WorkerId>(factories.size());
    factories.push_back([id, &choice, &memory] { return MakeWorker(id, choice.make(), memory); });
  }
  return factories;
}

RunResult RunTraining(const TrainOptions& options, const TrainPlan& plan,
                      const TrainingFiles& files, Start start, RunObserver& observer) {
  const std::unique_ptr<JobMemory> memory = MakeMemory(options, plan, files, start);
  start.weights = std::vector<float>();  // lets go of the memory, which {} would keep
  const auto algorithm = MakeAlgorithm(options.algorithm, plan.batches);
  Coordinator coordinator(*algorithm, MakeSetup(options, plan, files, start.spec));
  const auto executor = MakeThreadExecutor(
      MakeFactories(plan, *memory), options.no_pin ? Pinning::kNone : Pinning::kCores,
      [&interrupts = CountInterrupts()] { return interrupts > 0; });
  executor->Run(coordinator, observer);
  RunResult result = coordinator.Result();
  ChooseParameters(*memory, coordinator.saved_snapshot(), result);
  return result;
}

SummaryFacts FactsOf(const TrainOptions& options, const TrainPlan& plan, const ModelSpec& spec,
                     const std::string& folder) {
  SummaryFacts facts{.algorithm = options.algorithm,
                     .seed = options.seed,
                     .parameters = Layout(spec).parameters,
                     .out = folder};
  for (const DeviceChoice& choice : plan.devices) facts.devices.push_back(choice.info.name);
  return facts;
}

int ExitCode(const RunResult& result, const TrainOptions& options, Console& console,
             const TrainObserver& observer) {
  switch (result.stopped_because) {
    case StopReason::kDiverged:
      console.Warn(DivergenceAdvice(result, options.rate.lr));
      return kExitUser;
    case StopReason::kNoWorkers:
      console.Warn(fmt::format("training ended early because its last worker failed{}",
                               result.parameters.empty() ? "" : "; the model so far was saved"));
      return kExitMachine;
    case StopReason::kInterrupted:
      return kExitInterrupted;
    default:
      return observer.record_failed() ? kExitMachine : kExitOk;
  }
}

void WarnOfThreads(const TrainOptions& options, const TrainPlan& plan, Console& console) {
  const int threads = CountWorkers(plan).cpu;
  if (options.quiet || threads <= Cores().count()) return;
  console.Warn(fmt::format("{} workers share {} cores; more workers than cores rarely help",
                           threads, Cores().count()));
}

}  // namespace

int Train(const TrainOptions& asked) {
  TrainOptions options = asked;
  Console console(ChooseVerbosity(options));
  TrainPlan plan = MakePlan(options);
  options.algorithm = ChooseAlgorithm(asked.algorithm, InfosOf(plan.devices));
  WarnOfThreads(options, plan, console);
  // A folder the user named is tried before a large file is read; a dated one is made when needed.
  if (!options.out.empty()) MakeOutputFolder(options.out);
  const TrainingFiles files = ReadFiles(options, plan, console);
  Start start = MakeStart(options, plan, files.training);
  const ModelSpec spec = start.spec;
  SetupObserver setup(console);
  const std::vector<std::string> calibrated = CalibrateGpuBatch(
      options, plan, spec, files.training, [&] { return MakeMemory(options, plan, files, start); },
      setup);
  options.rate = asked.rate.ChosenFor(spec.loss);
  const std::string folder = MakeOutputFolder(options.out);
  SetAsideOldRun(folder);
  for (const std::string& line : IntroductionLines(
           options, plan, files.training, files.test ? &*files.test : nullptr, spec, folder)) {
    console.Say(line);
  }
  for (const std::string& line : MemoryNotes(options, plan)) console.Say(line);
  for (const std::string& line : calibrated) console.Say(line);
  ReplaceFile(folder + "/options.json", OptionsText(options));

  const QualityScale scale{.loss = spec.loss,
                           .target_deviation = files.training.schema.target_deviation};
  TrainObserver observer(console, folder + "/metrics.jsonl", options.epochs, scale,
                         plan.devices.size());
  const RunResult result = RunTraining(options, plan, files, std::move(start), observer);
  console.EndLive();

  if (!result.parameters.empty()) {
    SaveModel(folder + "/model.safetensors", spec, files.training.schema, result.parameters);
  }
  const std::string summary = SummaryText(result, FactsOf(options, plan, spec, folder), scale);
  ReplaceFile(folder + "/summary.json", summary);
  for (const std::string& line : ConclusionLines(result, scale, folder)) console.Say(line);
  if (options.json) WriteOutput(summary);
  return ExitCode(result, options, console, observer);
}

}  // namespace hogbatch
