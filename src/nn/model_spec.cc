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

void ParameterLayout::Append(std::int64_t in, std::int64_t out, Activation activation) {
  const LayerShape shape{.in = in,
                         .out = out,
                         .weights_at = floats,
                         .bias_at = floats + AlignUp(in * out),
                         .activation = activation};
  floats = shape.bias_at + AlignUp(out);
  parameters += in * out + out;
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

  ParameterLayout layout;
  std::int64_t in = spec.inputs;
  for (int i = 0; i < spec.layers(); ++i) {
    const bool last = i + 1 == spec.layers();
    const std::int64_t out = last ? spec.outputs : spec.hidden[i];
    // Widths are at most 2^31, so a layer's product fits 64 bits, and so does one layer more than
    // the limit checked after each.
    layout.Append(in, out, last ? Activation::kIdentity : spec.activation);
    if (layout.floats > kMaxParameters) {
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
