// The page of a run, as `hogbatch report` and `train --report` write it.
#pragma once

#include <string>

namespace hogbatch {

// Into the folder of the run. Returns the path of the page.
std::string WriteReportInto(const std::string& folder);

}  // namespace hogbatch
