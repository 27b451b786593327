// The options of a training as text, to be read again when the run is resumed.
#pragma once

#include <string>
#include <string_view>

#include "training/spec.h"

namespace hogbatch {

// The name of the data among options, though it is none: the first argument.
inline constexpr const char* kDataKey = "data";

// A JSON object: the text of every option by its name, and of the data.
std::string SpecToJson(const TrainingSpec& spec);

// UserError, which names `source`, for an option that this program does not know or refuses.
TrainingSpec SpecFromJson(std::string_view text, std::string_view source);

}  // namespace hogbatch
