// Keys such as `a.b.c` in the text of a TOML file.
#pragma once

#include <cstddef>
#include <string_view>

namespace hogbatch {

// The line of the first key or table header with more than `most_parts` dotted parts; 0: none.
// Every part opens a table, and toml++ 3.3.0 closes them recursively, without a limit. Dots in
// strings and comments do not count. Of text that is not TOML, what stands before the first error
// is judged rightly: a parser reads no further.
std::size_t LineOfLongKey(std::string_view toml, std::size_t most_parts);

}  // namespace hogbatch
