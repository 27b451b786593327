// The options of a run that goes on from a checkpoint.
#pragma once

#include <span>
#include <string>

#include "training/checkpoint/checkpoint_file.h"
#include "training/spec.h"

namespace hogbatch {

// The options that the run had, with the few that may change as they are asked for now. `given`:
// the names of the options that are; `folder` names the run in errors. UserError for another option
// that differs.
TrainingSpec ResumedSpec(const TrainingSpec& asked, std::span<const std::string> given,
                         const Checkpoint& checkpoint, const std::string& folder);

}  // namespace hogbatch
