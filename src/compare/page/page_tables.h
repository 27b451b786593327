// The parts of compare.html below the picture, as markup.
#pragma once

#include <string>

#include "compare/comparison.h"

namespace hogbatch::compare {

std::string TimeToTarget(const Comparison& comparison);
std::string Costs(const Comparison& comparison);
std::string Throughput(const Comparison& comparison);
std::string Quality(const Comparison& comparison);
std::string Tuning(const Comparison& comparison);
std::string Noise(const Comparison& comparison);
std::string Rules(const Comparison& comparison);
std::string Commands(const Comparison& comparison);

}  // namespace hogbatch::compare
