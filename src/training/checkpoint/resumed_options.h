// The options of a run that goes on from a checkpoint.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "training/checkpoint/checkpoint_file.h"
#include "training/model/model_file.h"
#include "training/spec.h"

namespace hogbatch {

// The options that the run had, with the few that may change as they are asked for now. `given`:
// the names of the options that are; `folder` names the run in errors. UserError for another option
// that differs.
TrainingSpec ResumedSpec(const TrainingSpec& asked, std::span<const std::string> given,
                         const Checkpoint& checkpoint, const std::string& folder);

// The model of --init FILE that the run began with, with the weights of the checkpoint in place of
// its own; none: the run began with none, or is of a program that left it to the file. UserError if
// it is damaged.
std::optional<SavedModel> StartOf(const Checkpoint& checkpoint, const std::string& folder);

}  // namespace hogbatch
