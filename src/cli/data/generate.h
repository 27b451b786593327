// The sets whose shape `data generate` knows.
#pragma once

#include <string>
#include <vector>

namespace hogbatch {

std::vector<std::string> GeneratedSets();  // names

}  // namespace hogbatch
