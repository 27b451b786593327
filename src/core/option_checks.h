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

// Of a value that is there already. NaN is in no range.
void CheckInRange(std::string_view name, double value, Range range);

}  // namespace hogbatch
