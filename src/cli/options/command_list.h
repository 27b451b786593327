// All commands and their options, for completion in shells and for the manual page.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.h"

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
// Those of `visit`, and those of every command, which are named below.
std::vector<ListedOption> ListOptions(const std::function<void(OptionVisitor&)>& visit);
inline constexpr std::string_view kConfigOption = "config", kPrintConfigOption = "print-config",
                                  kHelpOption = "help";

// First words: "data" stands for all of its commands, whose second words are DataCommandNames.
std::vector<std::string> CommandNames();
std::vector<std::string> DataCommandNames();

// What `hogbatch --help` and `hogbatch data --help` print.
std::string ProgramHelp();
std::string DataHelp();

// Texts of `hogbatch completion bash` and `zsh`. UserError for another shell.
std::string CompletionScript(const std::string& shell);

// The manual page, for man(1).
std::string ManualPage(const std::string& version);

}  // namespace hogbatch
