// How what a replica has learnt gets into the shared model.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/options.h"

namespace hogbatch {

// kDelta adds what the replica changed, so that concurrent updates of other workers survive.
// kAverage moves the model towards the replica by 1 / teams. kOverwrite replaces the model, as the
// Hogbatch paper's published code does.
enum class Merge : std::uint8_t { kDelta, kAverage, kOverwrite };

inline constexpr Merge kUsualMerge = Merge::kDelta;

Merge ParseMerge(std::string_view name);  // UserError for an unknown word
std::string_view Name(Merge merge);
Words MergeWords();  // what a user may choose from, the default first

}  // namespace hogbatch
