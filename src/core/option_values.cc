#include "core/option_values.h"

#include <fmt/format.h>

#include "core/text.h"

namespace hogbatch {

std::string OptionText(bool value) { return value ? "true" : "false"; }
std::string OptionText(std::int64_t value) { return fmt::format("{}", value); }
std::string OptionText(double value) { return fmt::format("{}", value); }
std::string OptionText(const std::vector<std::int64_t>& value) { return Join(value); }
std::string OptionText(const std::string& value) { return value; }

}  // namespace hogbatch
