// Networks and schemas as JSON text, for a model file's metadata.
#pragma once

#include <string>
#include <string_view>

#include "datasets/schema.h"
#include "nn/model_spec.h"

namespace hogbatch {

std::string SpecToJson(const ModelSpec& spec);
std::string SchemaToJson(const Schema& schema);

// Both throw UserError that says what is wrong with the text, every part checked against the
// others, so that what comes back can be used without another look.
ModelSpec SpecFromJson(std::string_view text);
Schema SchemaFromJson(std::string_view text);

}  // namespace hogbatch
