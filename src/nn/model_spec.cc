#include "nn/model_spec.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"
#include "core/words.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 31;  // columns of CSR rows are 32 bits wide
constexpr std::int64_t kMaxParameters = std::int64_t{1} << 40;  // 4 TiB: no machine holds more

constexpr std::array<NamedValue<Activation>, 5> kActivations{{
    {"relu", Activation::kRelu},
    {"sigmoid", Activation::kSigmoid},
    {"tanh", Activation::kTanh},
    {"gelu", Activation::kGelu},
    {"identity", Activation::kIdentity},
}};
constexpr std::array<NamedValue<Loss>, 3> kLosses{{
    {"softmax", Loss::kSoftmax},
    {"sigmoid", Loss::kSigmoid},
    {"squared", Loss::kSquared},
}};

void CheckWidth(const ModelSpec& spec, std::string_view what, std::int64_t width) {
  if (width >= 1 && width <= kMaxWidth) return;
  throw UserError(fmt::format("a network {} cannot be built: {} must be between 1 and {}, not {}",
                              WidthsText(spec), what, kMaxWidth, width));
}

}  // namespace

void ParameterLayout::Append(std::int64_t in, std::int64_t out, Activation activation,
                             std::int64_t stacked) {
  const LayerShape shape{.in = in,
                         .out = out,
                         .width = stacked * out,
                         .weights_at = floats,
                         .bias_at = floats + AlignUp(in * out),
                         .activation = activation};
  floats = shape.bias_at + AlignUp(shape.width);
  parameters += in * out + shape.width;
  layers.push_back(shape);
}

ParameterLayout Layout(const ModelSpec& spec) {
  if (spec.hidden.size() > kMostHiddenLayers) {
    throw UserError(fmt::format("a network of {} hidden layers cannot be built: choose at most {}",
                                spec.hidden.size(), kMostHiddenLayers));
  }
  CheckWidth(spec, "its number of inputs", spec.inputs);
  for (const std::int64_t width : spec.hidden) CheckWidth(spec, "the width of a layer", width);
  CheckWidth(spec, "its number of outputs", spec.outputs);
  Check(spec.lanes >= 1, "a network has at least one lane");

  ParameterLayout layout;
  layout.lanes = spec.lanes;
  std::int64_t in = spec.inputs;
  for (int i = 0; i < spec.layers(); ++i) {
    const bool last = i + 1 == spec.layers();
    const std::int64_t out = last ? spec.outputs : spec.hidden[i];
    const Activation activation = last ? Activation::kIdentity : spec.activation;
    // Widths are at most 2^31, so a layer's product fits 64 bits, and so does one layer more than
    // the limit checked after each. Lanes are divided by, since a product with them may not fit.
    const bool fits = (in + 1) * out <= kMaxParameters / spec.lanes;
    if (fits && i == 0) layout.Append(in, spec.lanes * out, activation);
    if (fits && i > 0) layout.Append(spec.lanes * in, out, activation, spec.lanes);
    if (!fits || layout.floats > kMaxParameters) {
      throw UserError(fmt::format(
          "a network {} has more than {} parameters, which no memory holds: choose smaller layers",
          WidthsText(spec), kMaxParameters));
    }
    in = out;
  }
  return layout;
}

std::string WidthsText(const ModelSpec& spec) {
  std::string text = fmt::format("{}", spec.inputs);
  for (const std::int64_t width : spec.hidden) text += fmt::format(" -> {}", width);
  return text + fmt::format(" -> {}", spec.outputs);
}

std::string_view Name(Activation activation) { return NameOf(activation, kActivations); }
std::string_view Name(Loss loss) { return NameOf(loss, kLosses); }
Activation ParseActivation(std::string_view name) {
  return ParseWord("activation", name, kActivations);
}
Loss ParseLoss(std::string_view name) { return ParseWord("loss", name, kLosses); }

Words ActivationWords() {
  Words words = WordsOf(kActivations);
  std::erase(words.words, Name(Activation::kIdentity));
  return words;
}
Words LossWords() { return WordsOf(kLosses); }

}  // namespace hogbatch
