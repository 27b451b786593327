#include "compare/runs/option_texts.h"

#include <algorithm>
#include <cctype>

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
