// Detects the format of a file from its content, not from its name.
#pragma once

#include <string_view>

#include "datasets/schema.h"

namespace hogbatch {

FileFormat DetectFormat(std::string_view text);

}  // namespace hogbatch
