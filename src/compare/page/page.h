// compare.html: one file that opens offline.
#pragma once

#include <string>

#include "compare/comparison.h"

namespace hogbatch::compare {

std::string ComparePage(const Comparison& comparison);

// The picture alone, as an SVG file for documents: loss against training time.
std::string ComparePicture(const Comparison& comparison);

}  // namespace hogbatch::compare
