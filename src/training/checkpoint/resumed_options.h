// Options of a resumed run or sweep. A few may change; others are refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/option_values.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/model/model_file.h"
#include "training/spec.h"

namespace hogbatch {

// What goes on, for errors, and which of its options may change.
struct ResumedKind {
  std::string_view name;  // "run"
  std::string_view folder;
  std::span<const std::string_view> may_change;
  std::string advice;  // what to do about another option
};

// The changes to what goes on: of the options that the user gave, those that differ, as they are
// asked for now. `had` and `asked`: all options of the training. UserError for one that may not
// change.
OptionTexts TakeChanges(std::span<const std::string> given, const OptionTexts& had,
                        const OptionTexts& asked, const ResumedKind& kind);

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
