// The files that a training reads, by names that are kept to go on with it later.
#pragma once

#include <string>
#include <string_view>

#include "training/spec.h"

namespace hogbatch {

// The same files, named so that every folder finds them. Patterns, several files, standard input
// and the data set that ships with the program stay what they are.
TrainingSpec WithAbsolutePaths(TrainingSpec spec);

// Whether a training that goes on may have `wanted` in place of what its option `name` had: the
// same text, the same model for --init, or a file of rows, which are compared when they are read.
bool MayReplace(std::string_view name, const std::string& wanted, const std::string& had);

// UserError for a file whose name is not UTF-8, so that the record of `folder` does not hold it.
// `command` goes on with it: "train" or "sweep".
void RefuseLostNames(const TrainingSpec& spec, std::string_view command, const std::string& folder);

}  // namespace hogbatch
