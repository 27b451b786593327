#include "cli/train_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/spelling.h"
#include "cli/values.h"
#include "core/error.h"
#include "nn/initialize.h"

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

}  // namespace

TrainPlan MakePlan(const TrainOptions& options) {
  TrainPlan plan;
  plan.devices = ChooseDevices(options.devices);
  plan.cpu_batch = ParseBatchRange("--cpu-batch", options.cpu_batch);
  plan.rules.epochs = options.epochs;
  if (!options.max_time.empty()) {
    plan.rules.max_seconds = ParseDuration("--max-time", options.max_time);
  }
  if (options.target_loss > 0) plan.rules.target_loss = options.target_loss;
  plan.rules.patience = options.patience;
  plan.rules.eval_every = options.eval_every;
  plan.rules.report_every = options.report_every;
  plan.hidden = HiddenWidths(options.hidden);
  if (NamesFile(options.init)) plan.start = LoadStart(options.init);
  return plan;
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

std::vector<float> StartingWeights(const TrainOptions& options, const TrainPlan& plan,
                                   const ModelSpec& spec, const Schema& schema) {
  if (plan.start) {
    const std::string why = WhyNoStart(*plan.start, spec, schema);
    if (!why.empty()) throw UserError(fmt::format("--init {}: {}", options.init, why));
    return plan.start->parameters;
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

}  // namespace hogbatch
