#include "training/train_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/spelling.h"
#include "core/text.h"
#include "nn/initialize.h"
#include "nn/optimizer.h"
#include "runtime/control/teams.h"

namespace hogbatch {
namespace {

const std::array<std::string, 4> kInitializations = {"auto", "xavier", "he", "paper"};

bool NamesFile(const std::string& init) {
  return std::find(kInitializations.begin(), kInitializations.end(), init) ==
         kInitializations.end();
}

std::vector<std::int64_t> HiddenWidths(const std::vector<std::int64_t>& hidden) {
  if (hidden == std::vector<std::int64_t>{0}) return {};
  for (const std::int64_t width : hidden) {
    if (width == 0)
      throw UserError("--hidden: a layer of width 0 only stands alone (linear model)");
  }
  return hidden;
}

SavedModel LoadStart(const std::string& init) {
  if (!std::filesystem::exists(init)) {
    throw UserError(fmt::format("--init {}: neither xavier, he or paper nor a file that is there{}",
                                init, DidYouMean(init, kInitializations)));
  }
  return LoadModel(init);
}

// The file of --init has settled what these options would choose.
void CheckGoesOn(const TrainOptions& options, const Schema& schema) {
  const auto check = [&](std::string_view name, std::string_view asked, std::string_view unset,
                         std::string_view has) {
    if (asked == unset || asked == has) return;
    throw UserError(
        fmt::format("--{} {}: the model of --init has '{}' and keeps it; leave out --{}", name,
                    asked, has, name));
  };
  check("scale", options.scale, "auto", Name(schema.scaling));
  check("positive", options.positive, "", schema.positive);
  if (schema.format == FileFormat::kCsv) check("label", options.label, "auto", schema.label_column);
}

}  // namespace

TrainPlan MakePlan(const TrainOptions& options) {
  TrainPlan plan;
  const Machine machine = ThisMachine();
  plan.devices = ChooseDevices(options.devices, machine);
  plan.host_memory_bytes = machine.processor.memory_bytes;
  const GpuBatch gpu_batch = ParseGpuBatch("--gpu-batch", options.batch.gpu_batch);
  plan.batches = {.cpu_batch = ParseBatchRange("--cpu-batch", options.batch.cpu_batch),
                  .gpu_batch = gpu_batch.range,
                  .adaptive = options.adaptive};
  plan.calibrate_gpu_batch = gpu_batch.calibrate_min;
  options.rate.ChosenFor(Loss::kSoftmax);  // throws what is wrong for any loss
  plan.rules.epochs = options.epochs;
  if (!options.max_time.empty()) {
    plan.rules.max_seconds = ParseDuration("--max-time", options.max_time);
  }
  if (options.target_loss > 0) plan.rules.target_loss = options.target_loss;
  plan.rules.patience = options.patience;
  plan.rules.eval_every = options.eval_every;
  plan.rules.report_every = options.report_every;
  plan.hidden = HiddenWidths(options.hidden);
  if (NamesFile(options.init)) {
    plan.start = LoadStart(options.init);
    CheckGoesOn(options, plan.start->schema);
  }
  return plan;
}

WorkerCounts CountWorkers(const TrainPlan& plan) {
  WorkerCounts workers;
  for (const DeviceChoice& choice : plan.devices) {
    ++(choice.info.kind == DeviceKind::kCpu ? workers.cpu : workers.gpu);
  }
  return workers;
}

bool Adapts(const TrainOptions& options, const TrainPlan& plan) {
  return FindAlgorithm(options.algorithm).traits.adapts_batch_size &&
         MakeTeams(InfosOf(plan.devices)).names.size() > 1;
}

ModelSpec MakeSpec(const TrainOptions& options, const TrainPlan& plan,
                   const TrainingData& training) {
  return {.inputs = training.data.features,
          .hidden = plan.hidden,
          .outputs = training.schema.outputs(),
          .activation = ParseActivation(options.activation),
          .loss = LossFor(training.schema.label_kind),
          .sparse_input = training.data.is_sparse};
}

Merge ParseMerge(std::string_view merge) {
  if (merge == "average") return Merge::kAverage;
  return merge == "overwrite" ? Merge::kOverwrite : Merge::kDelta;
}

double MomentumToApply(const TrainOptions& options, int workers) {
  const double total = options.optimizer.momentum;
  if (options.optimizer.no_momentum_correction) return total;
  return ExplicitMomentum(total,
                          AsynchronousWorkers(FindAlgorithm(options.algorithm).traits, workers));
}

std::int64_t MergeRows(const TrainOptions& options, const ModelSpec& spec, int workers) {
  const bool is_direct = IsDirect(options.optimizer, MomentumToApply(options, workers),
                                  spec.sparse_input ? spec.inputs : 0);
  return is_direct ? options.merge_rows : 1;
}

std::vector<float> TakeStartingWeights(const TrainOptions& options, TrainPlan& plan,
                                       const ModelSpec& spec, const Schema& schema) {
  if (plan.start) {
    const std::string why = WhyNoStart(*plan.start, spec, schema);
    if (!why.empty()) throw UserError(fmt::format("--init {}: {}", options.init, why));
    return std::move(plan.start->parameters);
  }
  const bool rectifier =
      spec.activation == Activation::kRelu || spec.activation == Activation::kGelu;
  const std::string name =
      options.init != "auto" ? options.init : std::string(rectifier ? "he" : "xavier");
  const ParameterLayout layout = Layout(spec);
  std::vector<float> weights(static_cast<std::size_t>(layout.floats));
  Initialize(layout, ParseInitialization(name), static_cast<std::uint64_t>(options.seed), weights);
  return weights;
}

void ChooseParameters(const JobMemory& memory, std::optional<SnapshotId> snapshot,
                      RunResult& result) {
  const auto take = [&](std::span<const float> from) {
    if (!std::ranges::all_of(from, [](float x) { return std::isfinite(x); })) return false;
    result.parameters.assign(from.begin(), from.end());
    return true;
  };
  const bool failed = result.stopped_because == StopReason::kNoWorkers;
  if (failed && result.totals.updates == 0) {
    result.saved.reset();
    return;
  }
  const bool newer = !result.saved || result.saved->epoch < result.totals.epoch;
  if (failed && newer && take(memory.store.quiet())) {
    result.saved.reset();  // nobody was left to measure it
  } else if (snapshot) {
    take(memory.snapshots[static_cast<std::size_t>(*snapshot)].span());
  } else if (result.stopped_because != StopReason::kDiverged) {
    take(memory.store.quiet());
  }
}

}  // namespace hogbatch
