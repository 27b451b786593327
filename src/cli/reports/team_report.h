// What the teams that train one model did, in words: their shares, what held them, how their
// updates met.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/control/progress.h"

namespace hogbatch {

std::string_view Name(HeldTeam::By by);  // "min", "max", "memory"

// The bound that held a team of `progress` in most of its reviews.
std::optional<HeldTeam> MostHeld(const Progress& progress, int team);

// For the live line, one field a team and the measured beta: "cpu 52% x64 (max)" is a share of the
// updates, rows per update and the bound it stands at. None unless several teams train; many GPUs
// share a field.
std::vector<std::string> TeamFields(const Progress& progress);

// For the end of a run: what each of several teams did, whether bounds kept them from balance, how
// updates met; and whatever was lost or failed, in any run.
std::vector<std::string> TeamLines(const Progress& totals);

}  // namespace hogbatch
