#include "datasets/readers/missing.h"

#include <algorithm>
#include <array>

namespace hogbatch {

bool IsMissing(std::string_view cell) {
  constexpr std::array<std::string_view, 12> kMarkers = {
      "", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "<NA>"};
  return cell.size() <= 4 && std::ranges::find(kMarkers, cell) != kMarkers.end();
}

bool IsMissingAmongNumbers(std::string_view cell) {
  constexpr std::array<std::string_view, 6> kMarkers = {"None", "none", "nil", "-", "--", "."};
  return std::ranges::find(kMarkers, cell) != kMarkers.end();
}

}  // namespace hogbatch
