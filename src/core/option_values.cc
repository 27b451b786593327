#include "core/option_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace hogbatch {

std::string OptionText(bool value) { return value ? "true" : "false"; }
std::string OptionText(std::int64_t value) { return fmt::format("{}", value); }
std::string OptionText(double value) { return fmt::format("{}", value); }
std::string OptionText(const std::vector<std::int64_t>& value) { return Join(value); }
std::string OptionText(const std::string& value) { return value; }

OptionTexts Changed(OptionTexts texts, const OptionTexts& defaults) {
  std::erase_if(
      texts, [&](const auto& text) { return std::ranges::find(defaults, text) != defaults.end(); });
  return texts;
}

}  // namespace hogbatch
