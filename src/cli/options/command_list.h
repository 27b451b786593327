// All commands and their options, for completion in shells and for the manual page.
#pragma once

#include <string>
#include <vector>

namespace hogbatch {

struct ListedOption {
  std::string group;
  std::string name;                // without dashes
  std::string meta;                // what follows it; empty: nothing
  std::vector<std::string> words;  // that may follow it
  std::string help;
  std::string value;  // by default; empty: none
};

struct ListedCommand {
  std::string name;  // "train", "data info"
  std::string help;  // what it is for, with examples
  std::vector<ListedOption> options;
};

std::vector<ListedCommand> ListCommands();

// Texts of `hogbatch completion bash` and `zsh`. UserError for another shell.
std::string CompletionScript(const std::string& shell);

// The manual page, for man(1).
std::string ManualPage(const std::string& version);

}  // namespace hogbatch
