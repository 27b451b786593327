#include "datasets/encoding/label_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace hogbatch {

std::string ListNames(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    list += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kShown) list += fmt::format(", ... ({} in all)", names.size());
  return list;
}

}  // namespace hogbatch
