// Ensembles: models of one shape whose predictions are averaged. One is a SavedModel with a lane
// for each member.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/model/model_file.h"

namespace hogbatch {

// All of them have the same shape and schema.
SavedModel JoinMembers(std::span<const SavedModel> members);

// As a model of its own; `member` from 0.
SavedModel MemberOf(const SavedModel& ensemble, std::int64_t member);

inline bool IsEnsemble(const SavedModel& model) { return model.spec.lanes > 1; }

}  // namespace hogbatch
