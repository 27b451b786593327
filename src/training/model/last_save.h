// The last save of a run: what was trained for hours must not be lost because a disk is full.
#pragma once

#include <string>

#include "training/model/model_file.h"
#include "training/observer.h"

namespace hogbatch {

inline constexpr double kSaveSeconds = 10;

// Saves the model into `folder` as model.safetensors. While that fails, it is tried again for
// `seconds`; then beside `folder`, then in the temporary folder. Returns the folder that has it;
// the observer is told if it is another one. Throws Error if there is no such folder.
std::string SaveLast(const SavedModel& model, const std::string& folder, TrainingObserver& observer,
                     double seconds = kSaveSeconds);

}  // namespace hogbatch
