// Text that others wrote, made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hogbatch {

// `text` as UTF-8 without control characters, which a terminal would obey: every other byte becomes
// a question mark. Bytes in `kept` ("\n") stay.
std::string Printable(std::string_view text, std::string_view kept = {});

// As much of the beginning of a text as has at most `most` characters.
std::string_view FirstCharacters(std::string_view text, std::size_t most);
// How many characters it has; a byte that is no UTF-8 counts as one.
std::size_t CountCharacters(std::string_view text);

// Bytes of the UTF-8 character that a text begins with; 0: it begins with none.
std::size_t Utf8Size(std::string_view text);

}  // namespace hogbatch
