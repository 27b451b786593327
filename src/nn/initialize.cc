#include "nn/initialize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "core/words.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<Initialization>, 3> kInitializations{{
    {"xavier", Initialization::kXavier},
    {"he", Initialization::kHe},
    {"paper", Initialization::kPaper},
}};

void FillNormal(Random& random, double deviation, std::span<float> weights) {
  for (float& w : weights) w = static_cast<float>(deviation * random.Normal());
}

// Glorot and Bengio's uniform form: its deviation, √(2 / (in + out)), keeps the variance of both
// activations and gradients, and it has no outliers.
void FillXavier(Random& random, double fan_sum, std::span<float> weights) {
  const double bound = std::sqrt(6 / fan_sum);
  for (float& w : weights) w = static_cast<float>(bound * (2 * random.Uniform() - 1));
}

}  // namespace

Initialization ParseInitialization(std::string_view name) {
  return ParseWord("initialisation", name, kInitializations);
}

Words InitializationWords() { return WordsOf(kInitializations); }

void Initialize(const ParameterLayout& layout, Initialization how, std::uint64_t seed,
                std::span<float> flat) {
  Check(static_cast<std::int64_t>(flat.size()) == layout.floats,
        "starting weights need an array of the layout's length");
  std::fill(flat.begin(), flat.end(), 0.0f);
  for (std::size_t i = 0; i < layout.layers.size(); ++i) {
    const LayerShape& shape = layout.layers[i];
    const double fan_in = static_cast<double>(shape.in);
    const double fan_sum = fan_in + static_cast<double>(shape.out);
    const auto weights = flat.subspan(shape.weights_at, shape.in * shape.out);
    Random random(seed, i);
    switch (how) {
      case Initialization::kXavier:
        FillXavier(random, fan_sum, weights);
        break;
      case Initialization::kHe:
        FillNormal(random, std::sqrt(2 / fan_in), weights);
        break;
      case Initialization::kPaper: {
        const double d = std::floor(std::sqrt(fan_sum)) + 1;
        FillNormal(random, std::sqrt(2 * d / fan_sum), weights);
        break;
      }
    }
  }
}

}  // namespace hogbatch
