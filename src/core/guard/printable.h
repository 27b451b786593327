// Text that others wrote, made safe to show.
#pragma once

#include <string>
#include <string_view>

namespace hogbatch {

// `text` as UTF-8 without control characters, which a terminal would obey: every other byte becomes
// a question mark. Bytes in `kept` ("\n") stay.
std::string Printable(std::string_view text, std::string_view kept = {});

}  // namespace hogbatch
