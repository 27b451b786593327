#include "core/guard/json_text.h"

#include <array>
#include <cstddef>

namespace hogbatch {
namespace {

// Whether `is_wanted` holds for any character outside of strings, in their order.
template <typename IsWanted>
bool AnyOutsideStrings(std::string_view json, IsWanted is_wanted) {
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      if (is_wanted(c)) return true;
    } else if (c == '\\') {
      ++i;  // the next character does not end the string
    }
  }
  return false;
}

}  // namespace

bool IsNestedDeeper(std::string_view json, int depth) {
  int open = 0;
  return AnyOutsideStrings(json, [&](char c) {
    if (c == ']' || c == '}') --open;
    return (c == '[' || c == '{') && ++open > depth;
  });
}

bool HasTooManyKeys(std::string_view json) {
  constexpr std::size_t kFreeKeys = 256;                          // of each object
  constexpr std::size_t kMostComparisons = std::size_t{1} << 23;  // of the keys beyond
  std::array<std::size_t, kMaxJsonDepth + 1> keys{};              // of the objects that are open
  std::size_t open = 0, comparisons = 0;
  return AnyOutsideStrings(json, [&](char c) {
    if ((c == '[' || c == '{') && open < kMaxJsonDepth) keys[++open] = 0;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (c == ':' && keys[open]++ >= kFreeKeys) comparisons += keys[open] - kFreeKeys;
    return comparisons > kMostComparisons;
  });
}

}  // namespace hogbatch
