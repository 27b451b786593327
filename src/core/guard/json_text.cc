#include "core/guard/json_text.h"

#include <cstddef>

namespace hogbatch {

bool IsNestedDeeper(std::string_view json, int depth) {
  int open = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\') ++i;  // the next character does not end the string
    } else if (c == '[' || c == '{') {
      if (++open > depth) return true;
    } else if (c == ']' || c == '}') {
      --open;
    }
  }
  return false;
}

}  // namespace hogbatch
