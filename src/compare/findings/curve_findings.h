// The picture: loss against training time, over the seeds of each side.
#pragma once

#include <vector>

#include "compare/findings/findings.h"

namespace hogbatch::compare {

// Losses between the target and the lowest that a side reached with its median seed; the target
// first.
std::vector<double> LevelsBelow(const RunLog& log, double target);

std::vector<CurveFinding> CurvesOf(const RunLog& log, const std::vector<Side>& sides,
                                   const std::vector<double>& levels);

}  // namespace hogbatch::compare
