// Output that would replace what the command reads.
#pragma once

#include <string>
#include <vector>

#include "training/spec.h"

namespace hogbatch {

// UserError if the file `out` is one of `inputs`, under whatever name. Each of them is text as DATA
// has it: files, patterns, or - for standard input; empty: none.
void RefuseOverwrite(const std::string& out, const std::vector<std::string>& inputs);

// The files that a training with these options reads.
std::vector<std::string> InputsOf(const TrainingSpec& spec);

// The files of a run in its folder that are no pages. The folder of a new run has no name yet.
std::vector<std::string> RunFiles(const std::string& folder);

}  // namespace hogbatch
