// Starting weights.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/options.h"
#include "nn/model_spec.h"

namespace hogbatch {

// kPaper: N(0, √(2d / (in + out))) with d = ⌊√(in + out)⌋ + 1, much larger than the other two; with
// it a deep sigmoid network leaves its plateau.
enum class Initialization : std::uint8_t { kXavier, kHe, kPaper };

Initialization ParseInitialization(std::string_view name);  // UserError for an unknown word
Words InitializationWords();

// Fills a flat array of `layout`: weights drawn from one stream a layer, biases and gaps zero.
void Initialize(const ParameterLayout& layout, Initialization how, std::uint64_t seed,
                std::span<float> flat);

}  // namespace hogbatch
