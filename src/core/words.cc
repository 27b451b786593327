#include "core/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"

namespace hogbatch {

void ThrowUnknownWord(std::string_view what, std::string_view word,
                      const std::vector<std::string>& choices) {
  throw UserError(
      fmt::format("unknown {} '{}': choose one of {}", what, word, fmt::join(choices, ", ")));
}

std::string Words::text() const {
  std::string all = fmt::format("{}", fmt::join(words, "|"));
  if (also.empty()) return all;
  return all.empty() ? also : all + "|" + also;
}

}  // namespace hogbatch
