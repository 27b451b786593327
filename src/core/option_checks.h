// Turns an option's text into its value, or says what is wrong with it; sets options by name.
#pragma once

#include <cstdint>
#include <functional>
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
bool CheckedFlag(std::string_view name, std::string_view text);  // true or false
std::string CheckedWord(std::string_view name, std::string_view text, const Words& words);

// Sets one option ("lr-batch") of those that `visit` shows to a visitor. UserError for an unknown
// name or a wrong value.
void SetOption(const std::function<void(OptionVisitor&)>& visit, std::string_view name,
               std::string_view text);

// Of a value that is there already. NaN is in no range.
void CheckInRange(std::string_view name, double value, Range range);

}  // namespace hogbatch
