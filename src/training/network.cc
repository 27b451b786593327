#include "training/network.h"

#include <fmt/format.h>

#include "core/error.h"

namespace hogbatch {

ModelSpec ChooseModel(const TrainingSpec& spec, const TrainingInput& input) {
  const TrainingData& training = input.training;
  const bool linear = spec.hidden == std::vector<std::int64_t>{0};
  const ModelSpec model{.inputs = training.data.features,
                        .hidden = linear ? std::vector<std::int64_t>() : spec.hidden,
                        .outputs = training.schema.outputs(),
                        .activation = ParseActivation(spec.activation),
                        .loss = LossFor(training.schema.label_kind),
                        .sparse_input = training.data.is_sparse};
  if (!input.start) return model;
  const std::string why = WhyNoStart(*input.start, model, training.schema);
  if (!why.empty()) throw UserError(fmt::format("--init {}: {}", spec.init, why));
  return model;
}

Initialization ChooseInit(const TrainingSpec& spec, const ModelSpec& model) {
  if (spec.init != "auto" && !StartsFromFile(spec)) return ParseInitialization(spec.init);
  const bool rectifier =
      model.activation == Activation::kRelu || model.activation == Activation::kGelu;
  return rectifier ? Initialization::kHe : Initialization::kXavier;
}

std::vector<float> StartingWeights(const ModelSpec& model, Initialization init, std::uint64_t seed,
                                   const TrainingInput& input) {
  if (input.start) return input.start->parameters;
  const ParameterLayout layout = Layout(model);
  std::vector<float> weights(layout.floats);
  Initialize(layout, init, seed, weights);
  return weights;
}

}  // namespace hogbatch
