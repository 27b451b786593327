// State as JSON text. Infinite numbers, which JSON lacks, are the strings "inf" and "-inf".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/state_visitor.h"

namespace hogbatch {

using VisitStateCall = std::function<void(StateVisitor&)>;

// What `visit` shows.
std::string StateToJson(const VisitStateCall& visit);

// Sets all that `visit` shows. UserError if the text is no JSON, or lacks a value; `source` names
// it in the message.
void StateFromJson(std::string_view text, std::string_view source, const VisitStateCall& visit);

}  // namespace hogbatch
