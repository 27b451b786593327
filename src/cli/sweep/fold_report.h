// Cross-validation as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "training/sweep/fold_means.h"

namespace hogbatch {

// A line of names, and one for each of the best settings, at most `most` of them.
std::vector<std::string> FoldTable(const SweepResults& sweep, std::size_t most);

// "5 folds: validation loss 0.512 ± 0.006 (0.503 to 0.519), accuracy 0.78 ± 0.004 (…); test …":
// mean, deviation, lowest and highest.
std::string FoldLine(const FoldMeans& means, const std::string& metric);

// The best setting as JSON. If all of its folds have ended well, the model is of one of them.
std::string FoldsJson(const SweepResults& sweep, const std::string& folder);

}  // namespace hogbatch
