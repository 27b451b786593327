// Networks and schemas as JSON text, for a model file's metadata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/schema.h"
#include "nn/model_spec.h"

namespace hogbatch {

inline constexpr std::int64_t kMostMembers = 1000;  // of an ensemble

std::string SpecToJson(const ModelSpec& spec);
std::string SchemaToJson(const Schema& schema);

// Both throw UserError with what is wrong with the text. All parts are checked against each other,
// so the result needs no further check.
ModelSpec SpecFromJson(std::string_view text);
Schema SchemaFromJson(std::string_view text);

}  // namespace hogbatch
