// Runs as JSON and back.
#pragma once

#include <nlohmann/json.hpp>

#include "compare/runs/run.h"

namespace hogbatch::compare {

using Json = nlohmann::ordered_json;

Json JsonOf(const RunRecord& record);
// Throws nlohmann's exception or UserError for what JsonOf did not write.
RunRecord RecordFrom(const Json& json);

}  // namespace hogbatch::compare
