#include "algorithms/adaptive_rule.h"

#include <algorithm>

namespace hogbatch {

Change PublishedRule(double team, std::span<const double> others, double band) {
  if (team < std::ranges::min(others) - band) return Change::kShrink;
  if (team > std::ranges::max(others) + band) return Change::kGrow;
  return Change::kStay;
}

}  // namespace hogbatch
