// Options as words of a command line.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "core/options.h"

namespace hogbatch::compare {

// Names without dashes and what the user would type; "true" or "false" for a flag.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// Everything that `visit` shows to a visitor.
template <std::invocable<OptionVisitor&> Visit>
OptionTexts TextsOf(Visit visit);

// The words that set options to `wanted` in a program whose defaults are `defaults`.
std::vector<std::string> ArgumentsFor(const OptionTexts& wanted, const OptionTexts& defaults);

class OptionTextWriter final : public OptionVisitor {
 public:
  const OptionTexts& texts() const { return texts_; }

  void Group(std::string_view) override {}
  void Flag(std::string_view name, bool& value, std::string_view) override;
  void Number(std::string_view name, std::int64_t& value, Range, std::string_view) override;
  void Number(std::string_view name, double& value, Range, std::string_view) override;
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range,
               std::string_view) override;
  void Word(std::string_view name, std::string& value, const Words&, std::string_view) override;
  void Text(std::string_view name, std::string& value, std::string_view, std::string_view) override;

 private:
  OptionTexts texts_;
};

template <std::invocable<OptionVisitor&> Visit>
OptionTexts TextsOf(Visit visit) {
  OptionTextWriter writer;
  visit(writer);
  return writer.texts();
}

// The words as one would type them in a shell.
std::string ShellText(const std::vector<std::string>& words);

}  // namespace hogbatch::compare
