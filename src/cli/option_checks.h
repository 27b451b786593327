// Turns an option's text into its value, or says what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.h"

namespace hogbatch {

// `name` without dashes. All throw UserError: "--lr must be between 1e-09 and 1000, not -3".
double CheckedReal(std::string_view name, std::string_view text, Range range);
std::int64_t CheckedInteger(std::string_view name, std::string_view text, Range range);
std::vector<std::int64_t> CheckedIntegers(std::string_view name, std::string_view text,
                                          Range range);
std::string CheckedWord(std::string_view name, std::string_view text, const Words& words);

// `text` in lines of at most `width` characters, broken at spaces.
std::string Wrap(std::string_view text, std::size_t width);

}  // namespace hogbatch
