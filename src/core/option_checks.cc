#include "core/option_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/spelling.h"
#include "core/text.h"

namespace hogbatch {
namespace {

template <typename T>
T CheckRange(std::string_view name, T value, Range range) {
  const auto number = static_cast<double>(value);
  if (!(number >= range.min && number <= range.max)) {
    throw UserError(fmt::format("--{} must be between {:g} and {:g}, not {}", name, range.min,
                                range.max, value));
  }
  return value;
}

// Sets the one option of a name from text.
class OptionSetter final : public OptionVisitor {
 public:
  OptionSetter(std::string_view name, std::string_view text) : name_(name), text_(text) {}

  bool found() const { return found_; }
  const std::vector<std::string>& names() const { return names_; }

  void Group(std::string_view) override {}
  void Flag(std::string_view name, bool& value, std::string_view) override {
    if (Meets(name)) value = CheckedFlag(name, text_);
  }
  void Number(std::string_view name, std::int64_t& value, Range range, std::string_view) override {
    if (Meets(name)) value = CheckedInteger(name, text_, range);
  }
  void Number(std::string_view name, double& value, Range range, std::string_view) override {
    if (Meets(name)) value = CheckedReal(name, text_, range);
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range range,
               std::string_view) override {
    if (Meets(name)) value = CheckedIntegers(name, text_, range);
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view) override {
    if (Meets(name)) value = CheckedWord(name, text_, words);
  }
  void Text(std::string_view name, std::string& value, std::string_view,
            std::string_view) override {
    if (Meets(name)) value = text_;
  }
  void Checked(std::string_view name, std::string& value, const Words&, const TextCheck& check,
               std::string_view) override {
    if (!Meets(name)) return;
    check(text_);
    value = text_;
  }

 private:
  bool Meets(std::string_view name) {
    names_.emplace_back(name);
    found_ = found_ || name == name_;
    return name == name_;
  }

  std::string_view name_;
  std::string_view text_;
  bool found_ = false;
  std::vector<std::string> names_;
};

}  // namespace

void CheckInRange(std::string_view name, double value, Range range) {
  CheckRange(name, value, range);
}

double CheckedReal(std::string_view name, std::string_view text, Range range) {
  return CheckRange(name, ParseReal(fmt::format("--{}", name), text), range);
}

std::int64_t CheckedInteger(std::string_view name, std::string_view text, Range range) {
  return CheckRange(name, ParseInteger(fmt::format("--{}", name), text), range);
}

std::vector<std::int64_t> CheckedIntegers(std::string_view name, std::string_view text,
                                          Range range) {
  std::vector<std::int64_t> values;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    values.push_back(CheckedInteger(name, rest.substr(0, comma), range));
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

bool CheckedFlag(std::string_view name, std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  throw UserError(fmt::format("--{} takes true or false, not '{}'", name, text));
}

std::string CheckedWord(std::string_view name, std::string_view text, const Words& words) {
  const bool known = std::find(words.words.begin(), words.words.end(), text) != words.words.end();
  // What else is accepted ("FILE") is judged by who uses it.
  if (known || (!words.also.empty() && !text.empty())) return std::string(text);
  throw UserError(fmt::format("--{} takes {}, not '{}'{}", name, fmt::join(words.words, ", "), text,
                              DidYouMean(text, words.words)));
}

void SetOption(const std::function<void(OptionVisitor&)>& visit, std::string_view name,
               std::string_view text) {
  OptionSetter setter(name, text);
  visit(setter);
  if (setter.found()) return;
  throw UserError(fmt::format("unknown option {}{}", name, DidYouMean(name, setter.names())));
}

}  // namespace hogbatch
