// Options are declared once: a struct holds the defaults, and its Visit names each option, its
// range and its help. Parsing, --help and the saved configuration are visitors, so they cannot
// disagree.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hogbatch {

// Inclusive bounds of a number.
struct Range {
  double min;
  double max;
};

// The words an option accepts. `also` describes what else is accepted ("FILE"); empty: nothing.
struct Words {
  std::vector<std::string> words;
  std::string also = {};

  std::string text() const;  // "auto|all|N"
};

// Names of options are given without dashes ("lr-batch"). `help` is a sentence without a full stop;
// the visitor adds the default. A group opens a heading in --help.
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  virtual void Group(std::string_view title) = 0;
  virtual void Flag(std::string_view name, bool& value, std::string_view help) = 0;
  virtual void Number(std::string_view name, std::int64_t& value, Range range,
                      std::string_view help) = 0;
  virtual void Number(std::string_view name, double& value, Range range, std::string_view help) = 0;
  // Numbers separated by commas.
  virtual void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range range,
                       std::string_view help) = 0;
  virtual void Word(std::string_view name, std::string& value, const Words& words,
                    std::string_view help) = 0;
  // Free text; `meta` stands for it in --help ("FILE").
  virtual void Text(std::string_view name, std::string& value, std::string_view meta,
                    std::string_view help) = 0;
  // One of the words, or what else `check` accepts: it throws UserError for a text that is wrong.
  using TextCheck = std::function<void(std::string_view)>;
  virtual void Checked(std::string_view name, std::string& value, const Words& words,
                       const TextCheck& /*check*/, std::string_view help) {
    Word(name, value, words, help);
  }
};

}  // namespace hogbatch
