#include "compare/runs/option_texts.h"

#include <algorithm>

#include "core/text.h"

namespace hogbatch::compare {

std::vector<std::string> ArgumentsFor(const OptionTexts& wanted, const OptionTexts& defaults) {
  std::vector<std::string> words;
  for (const auto& option : wanted) {
    if (std::ranges::find(defaults, option) != defaults.end()) continue;
    words.push_back("--" + option.first);
    if (option.second != "true") words.push_back(option.second);
  }
  return words;
}

std::string CommandLine(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + ShellText(word);
  }
  return text;
}

}  // namespace hogbatch::compare
