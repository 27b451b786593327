// Which options of a training may vary, and their texts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/error.h"
#include "training/checkpoint/kept_paths.h"
#include "training/checkpoint/spec_text.h"
#include "training/queue/shared_inputs.h"
#include "training/sweep/sweep_spec.h"

namespace hogbatch {
namespace {

// What a text may be, by the kind of its option.
struct NumberForm {
  NumberKind kind;
  Range range;
};

bool LooksVaried(std::string_view text, const std::optional<NumberForm>& number) {
  if (text.find('|') != std::string_view::npos) return true;
  return number && (text.starts_with("log:") || text.starts_with("lin:"));
}

// The values that are certain; a distribution stands for its bounds.
void CheckValues(const std::string& name, std::string_view text,
                 const std::optional<NumberForm>& number) {
  if (number && ParseDistribution(name, text, number->kind, number->range)) return;
  if (number && text.find(',') != std::string_view::npos) {
    throw UserError(fmt::format(
        "--{} {}: a list of numbers has | between them, as in '0.01|0.1', also in a config file",
        name, text));
  }
  TrainingSpec tried;
  tried.split_seed = SplitSeed(tried);
  std::optional<std::string> rows;
  for (const std::string& value : SplitValues(name, text)) {
    SetOption(tried, name, value);
    const std::string key = RowsKey(tried);
    if (rows && *rows != key) {
      throw UserError(fmt::format(
          "--{} {}: all trials of a sweep share their rows, and these values need different ones",
          name, text));
    }
    rows = key;
  }
}

std::string WhyFixed(std::string_view name) {
  if (name == "class-weights") {
    return "--class-weights cannot vary: it weighs the validation loss, too, so that the losses of "
           "trials with different ones cannot be compared; give one value, and run a sweep for "
           "each";
  }
  return fmt::format(
      "--{} cannot vary: it belongs to the whole sweep, whose trials share rows and devices; give "
      "one value, and run a sweep for each",
      name);
}

}  // namespace

// Shows options as texts to another visitor. What would change the rows, and what belongs to the
// whole sweep, has one value.
class SweptOptions::Shown final : public OptionVisitor {
 public:
  Shown(OptionVisitor& visitor, TrainingSpec& spec, std::map<std::string, std::string>& texts)
      : visitor_(visitor), spec_(spec), texts_(texts) {}

  void Group(std::string_view title) override { visitor_.Group(title); }
  void Flag(std::string_view name, bool& value, std::string_view help) override {
    visitor_.Flag(name, value, help);
  }
  void Number(std::string_view name, std::int64_t& value, Range range,
              std::string_view help) override {
    Show(name, value, value + 1, {{}, "N"}, NumberForm{NumberKind::kInteger, range}, help);
  }
  void Number(std::string_view name, double& value, Range range, std::string_view help) override {
    Show(name, value, value + 1, {{}, "X"}, NumberForm{NumberKind::kReal, range}, help);
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range,
               std::string_view help) override {
    Show(name, value, std::vector<std::int64_t>{1}, {{}, "N,N,..."}, {}, help);
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view help) override {
    const std::string& other = value == words.words.front() ? words.words.back() : words.words[0];
    Show(name, value, other, words, {}, help);
  }
  void Text(std::string_view name, std::string& value, std::string_view meta,
            std::string_view help) override {
    // The name of a file may have a "|".
    const bool may_be_file = &value != &spec_.class_weights;
    if (may_be_file && IsFixed(value, value + "x")) return visitor_.Text(name, value, meta, help);
    Show(name, value, value + "x", {{}, std::string(meta)}, {}, help);
  }

 private:
  template <typename T>
  bool IsFixed(T& value, const T& other) const {
    const auto* const place = static_cast<const void*>(&value);
    const std::array<const void*, 8> of_the_sweep = {&spec_.devices,
                                                     &spec_.algorithm,
                                                     &spec_.max_time,
                                                     &spec_.eval_every,
                                                     &spec_.eval_rows,
                                                     &spec_.report_every,
                                                     &spec_.reading.memory_limit,
                                                     &spec_.class_weights};
    if (std::ranges::find(of_the_sweep, place) != of_the_sweep.end()) return true;
    // Trials with different seeds share the split, and so their rows.
    const std::int64_t split_seed = std::exchange(spec_.split_seed, SplitSeed(spec_));
    const std::string rows = RowsKey(spec_);
    const T kept = std::exchange(value, other);
    const bool changes_rows = RowsKey(spec_) != rows;
    value = kept;
    spec_.split_seed = split_seed;
    return changes_rows;
  }

  template <typename T>
  void Show(std::string_view name, T& value, const T& other, const Words& words,
            const std::optional<NumberForm>& number, std::string_view help) {
    std::string& text = texts_.try_emplace(std::string(name), OptionText(value)).first->second;
    const auto check = [name = std::string(name), number,
                        is_fixed = IsFixed(value, other)](std::string_view given) {
      if (is_fixed && LooksVaried(given, number)) throw UserError(WhyFixed(name));
      CheckValues(name, given, number);
    };
    visitor_.Checked(name, text, words, check, help);
  }

  OptionVisitor& visitor_;
  TrainingSpec& spec_;
  std::map<std::string, std::string>& texts_;
};

namespace {

// The variation that a text of an option is; none if it is one value.
class VariationFinder final : public OptionVisitor {
 public:
  explicit VariationFinder(const std::map<std::string, std::string>& texts) : texts_(texts) {}

  std::vector<Variation> varied;
  std::vector<std::pair<std::string, std::string>> single;

  void Group(std::string_view) override {}
  void Flag(std::string_view, bool&, std::string_view) override {}
  void Number(std::string_view name, std::int64_t&, Range range, std::string_view) override {
    Find(name, NumberForm{NumberKind::kInteger, range});
  }
  void Number(std::string_view name, double&, Range range, std::string_view) override {
    Find(name, NumberForm{NumberKind::kReal, range});
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>&, Range,
               std::string_view) override {
    Find(name, {});
  }
  void Word(std::string_view name, std::string&, const Words&, std::string_view) override {
    Find(name, {});
  }
  void Text(std::string_view name, std::string&, std::string_view, std::string_view) override {
    Find(name, {});
  }

 private:
  void Find(std::string_view name, const std::optional<NumberForm>& number) {
    const auto found = texts_.find(std::string(name));
    if (found == texts_.end()) return;
    Variation variation{.name = found->first};
    if (number) {
      variation.distribution = ParseDistribution(name, found->second, number->kind, number->range);
    }
    if (!variation.distribution) variation.values = SplitValues(name, found->second);
    if (variation.values.size() == 1) {
      single.emplace_back(found->first, variation.values.front());
    } else {
      varied.push_back(std::move(variation));
    }
  }

  const std::map<std::string, std::string>& texts_;
};

}  // namespace

SweptOptions::SweptOptions() {
  OptionValues ignore([](std::string_view, const auto&) {});
  Visit(ignore);
}

SweptOptions SweptOptions::Of(const TrainingSpec& spec) {
  SweptOptions options;
  options.data() = spec.data;
  for (const auto& [name, text] : ChangedOptions(spec)) options.Set(name, text);
  return options;
}

void SweptOptions::Visit(OptionVisitor& visitor) {
  Shown shown(visitor, spec_, texts_);
  spec_.Visit(shown);
}

SweepSpec SweptOptions::Spec(const SearchOptions& search) const {
  TrainingSpec base = spec_;
  VariationFinder finder(texts_);
  base.Visit(finder);
  for (const auto& [name, value] : finder.single) SetOption(base, name, value);
  // Trials with different seeds are compared on the same rows.
  const auto is_seed = [](const Variation& variation) { return variation.name == "seed"; };
  if (std::ranges::any_of(finder.varied, is_seed)) base.split_seed = SplitSeed(base);
  return {.base = std::move(base), .varied = std::move(finder.varied), .search = search};
}

OptionTexts SweptOptions::Texts() const {
  SweptOptions copy = *this;  // a visitor might change what it visits
  std::string& init = copy.texts_.at("init");
  copy.spec_.init = init;
  copy.spec_ = WithAbsolutePaths(std::move(copy.spec_));
  // Several values are no file, and a folder with a "|" in its name would make them several.
  if (!LooksVaried(copy.spec_.init, {})) init = copy.spec_.init;
  OptionTexts texts;
  if (!copy.data().empty()) texts.emplace_back(kDataKey, copy.data());
  for (auto& [name, text] : TextsOf([&](OptionVisitor& all) { copy.Visit(all); })) {
    if (!text.empty()) texts.emplace_back(name, text);
  }
  return texts;
}

void SweptOptions::Set(const std::string& name, const std::string& text) {
  const auto found = texts_.find(name);
  if (name == kDataKey) {
    spec_.data = text;
  } else if (found != texts_.end()) {
    found->second = text;
  } else {
    SetOption(spec_, name, text);
  }
}

}  // namespace hogbatch
