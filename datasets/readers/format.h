// Which kind of text a file is, told by what it holds and not by its name.
#pragma once

#include <string_view>

#include "datasets/schema.h"

namespace hogbatch {

FileFormat DetectFormat(std::string_view text);

}  // namespace hogbatch
