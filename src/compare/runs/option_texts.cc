#include "compare/runs/option_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/text.h"

namespace hogbatch::compare {
namespace {

bool NeedsQuotes(const std::string& word) {
  return word.empty() || !std::ranges::all_of(word, [](unsigned char letter) {
           return std::isalnum(letter) ||
                  std::string_view("-_./:,=+@%").find(static_cast<char>(letter)) !=
                      std::string_view::npos;
         });
}

}  // namespace

void OptionTextWriter::Flag(std::string_view name, bool& value, std::string_view) {
  texts_.emplace_back(name, value ? "true" : "false");
}
void OptionTextWriter::Number(std::string_view name, std::int64_t& value, Range, std::string_view) {
  texts_.emplace_back(name, fmt::format("{}", value));
}
void OptionTextWriter::Number(std::string_view name, double& value, Range, std::string_view) {
  texts_.emplace_back(name, fmt::format("{}", value));
}
void OptionTextWriter::Numbers(std::string_view name, std::vector<std::int64_t>& value, Range,
                               std::string_view) {
  texts_.emplace_back(name, Join(value));
}
void OptionTextWriter::Word(std::string_view name, std::string& value, const Words&,
                            std::string_view) {
  texts_.emplace_back(name, value);
}
void OptionTextWriter::Text(std::string_view name, std::string& value, std::string_view,
                            std::string_view) {
  texts_.emplace_back(name, value);
}

std::vector<std::string> ArgumentsFor(const OptionTexts& wanted, const OptionTexts& defaults) {
  std::vector<std::string> words;
  for (const auto& option : wanted) {
    if (std::ranges::find(defaults, option) != defaults.end()) continue;
    words.push_back("--" + option.first);
    if (option.second != "true") words.push_back(option.second);
  }
  return words;
}

std::string ShellText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!NeedsQuotes(word)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char letter : word) {
      if (letter == '\'') {
        text += "'\\''";
      } else {
        text += letter;
      }
    }
    text += '\'';
  }
  return text;
}

}  // namespace hogbatch::compare
