// Parses argv into a command.
#pragma once

#include <span>
#include <string>

#include "cli/options/command_table.h"

namespace hogbatch {

// `arguments` without the program's name. Throws UserError for wrong arguments.
Command Parse(std::span<const std::string> arguments);

}  // namespace hogbatch
