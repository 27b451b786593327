// What a network is, as data: enough to lay out its parameters and to describe it in a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"
#include "core/options.h"
#include "device/activation.h"

namespace hogbatch {

enum class Loss : std::uint8_t { kSoftmax, kSigmoid, kSquared };

inline constexpr std::int64_t kAlignment = 16;          // floats in 64 bytes
inline constexpr std::size_t kMostHiddenLayers = 1000;  // far beyond what can be trained

struct ModelSpec {
  std::int64_t inputs = 0;
  std::vector<std::int64_t> hidden;
  std::int64_t outputs = 0;
  Activation activation = Activation::kRelu;  // of the hidden layers; the output layer has none
  Loss loss = Loss::kSoftmax;
  bool sparse_input =
      false;               // rows arrive as CSR: the first layer touches only the columns they name
  std::int64_t lanes = 1;  // networks of this shape that are trained together (nn/lanes/lanes.h)

  int layers() const { return static_cast<int>(hidden.size()) + 1; }
  bool operator==(const ModelSpec&) const = default;
};

inline std::int64_t AlignUp(std::int64_t floats) {
  return (floats + kAlignment - 1) / kAlignment * kAlignment;
}

// Where one layer's parameters lie in the flat array: weights [in × out] row-major, then `width`
// biases. Lanes lie side by side in the weights of the first layer and one below the other in those
// of the others.
struct LayerShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t width = 0;       // outputs of all lanes
  std::int64_t weights_at = 0;  // offsets in floats, each a multiple of 16 (64 bytes)
  std::int64_t bias_at = 0;
  Activation activation = Activation::kIdentity;
};

struct ParameterLayout {
  std::vector<LayerShape> layers;
  std::int64_t floats = 0;      // length of the flat array, alignment gaps included
  std::int64_t parameters = 0;  // weights and biases, gaps not counted
  std::int64_t lanes = 1;

  // Adds a layer behind the others. Its weights hold `stacked` lanes one below the other.
  void Append(std::int64_t in, std::int64_t out, Activation activation, std::int64_t stacked = 1);
};

// Throws UserError for a network that cannot be addressed.
ParameterLayout Layout(const ModelSpec& spec);

// The widths of its layers: "54 -> 512 -> 512 -> 2".
std::string WidthsText(const ModelSpec& spec);

std::string_view Name(Activation activation);
std::string_view Name(Loss loss);
// Both throw UserError for an unknown word.
Activation ParseActivation(std::string_view name);
Loss ParseLoss(std::string_view name);
// What a user may choose from, the default first. "identity" is not among the activations: it
// makes hidden layers pointless.
Words ActivationWords();
Words LossWords();

}  // namespace hogbatch
