// What a user should know about a training before it begins, in sentences.
#pragma once

#include <string>
#include <vector>

#include "training/devices/devices.h"
#include "training/plan.h"
#include "training/spec.h"

namespace hogbatch {

// What makes training on these devices slower than necessary: more workers than cores, GPUs
// without a cache.
std::vector<std::string> NotesOn(const Devices& devices);

// Options that have no effect in this training, an unexpected one, or less than was asked for.
std::vector<std::string> NotesOn(const TrainingSpec& spec, const TrainingPlan& plan);

}  // namespace hogbatch
