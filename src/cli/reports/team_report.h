// Describes what the teams of a run did: their shares, the bounds that held them, staleness and
// beta.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/control/progress.h"

namespace hogbatch {

std::string_view Name(BoundTeam::By by);  // "min", "max", "memory"

// The bound that held a team of `progress` in most of its reviews.
std::optional<BoundTeam> MostBound(const Progress& progress, TeamId team);

// For the live line, one field a team and the measured beta: "cpu 52% x64 (max)" is a share of the
// updates, rows per update and the bound it stands at. Empty unless several teams train. Many GPUs
// share a field.
std::vector<std::string> TeamFields(const Progress& progress);

// For the end of a run. With several teams: what each did, whether bounds kept them from balance,
// staleness and beta. In any run: what was lost or failed.
std::vector<std::string> TeamLines(const Progress& totals);

}  // namespace hogbatch
