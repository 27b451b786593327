// Options as words of a command line.
#pragma once

#include <string>
#include <vector>

#include "core/option_values.h"

namespace hogbatch::compare {

// The words that set options to `wanted` in a program whose defaults are `defaults`.
std::vector<std::string> ArgumentsFor(const OptionTexts& wanted, const OptionTexts& defaults);

// The words as one would type them in a shell.
std::string CommandLine(const std::vector<std::string>& words);

}  // namespace hogbatch::compare
