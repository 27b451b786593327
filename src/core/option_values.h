// Reads options through their visitor: as values, or as the texts that a user would type.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/options.h"

namespace hogbatch {

// Calls `use(name, value)` for every option. Texts that are not given are empty.
template <typename Use>
class OptionValues final : public OptionVisitor {
 public:
  explicit OptionValues(Use use) : use_(std::move(use)) {}
  void Group(std::string_view) override {}
  void Flag(std::string_view name, bool& value, std::string_view) override { use_(name, value); }
  void Number(std::string_view name, std::int64_t& value, Range, std::string_view) override {
    use_(name, value);
  }
  void Number(std::string_view name, double& value, Range, std::string_view) override {
    use_(name, value);
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range,
               std::string_view) override {
    use_(name, value);
  }
  void Word(std::string_view name, std::string& value, const Words&, std::string_view) override {
    use_(name, value);
  }
  void Text(std::string_view name, std::string& value, std::string_view,
            std::string_view) override {
    use_(name, value);
  }

 private:
  Use use_;
};

// What a user would type; "true" or "false" for a flag. Numbers read as the same numbers again.
std::string OptionText(bool value);
std::string OptionText(std::int64_t value);
std::string OptionText(double value);
std::string OptionText(const std::vector<std::int64_t>& value);
std::string OptionText(const std::string& value);

// Names without dashes, with their texts.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// Everything that `visit` shows to a visitor.
template <std::invocable<OptionVisitor&> Visit>
OptionTexts TextsOf(Visit visit) {
  OptionTexts texts;
  OptionValues values([&](std::string_view name, const auto& value) {
    texts.emplace_back(name, OptionText(value));
  });
  visit(values);
  return texts;
}

// Those of `texts` that are not among `defaults`.
OptionTexts Changed(OptionTexts texts, const OptionTexts& defaults);

}  // namespace hogbatch
