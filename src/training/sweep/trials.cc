#include "training/sweep/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "training/checkpoint/spec_text.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kUsualTrials = 32;

Trial MakeTrial(const SweepSpec& sweep, OptionTexts values) {
  Trial trial{.values = std::move(values), .spec = sweep.base};
  trial.spec.max_time.clear();  // it is that of the sweep
  try {
    for (const auto& [name, value] : trial.values) SetOption(trial.spec, name, value);
    Validate(trial.spec);
  } catch (const UserError& error) {
    throw UserError(trial.values.empty()
                        ? error.what()
                        : fmt::format("the trial {}: {}", TrialText(trial), error.what()));
  }
  return trial;
}

// How many combinations of lists there are; none: infinitely many, or more than can be counted.
std::optional<std::int64_t> Combinations(const SweepSpec& sweep) {
  std::int64_t all = 1;
  for (const Variation& variation : sweep.varied) {
    if (variation.distribution) return std::nullopt;
    if (__builtin_mul_overflow(all, std::ssize(variation.values), &all)) return std::nullopt;
  }
  return all;
}

// The last option varies fastest.
OptionTexts Combination(const SweepSpec& sweep, std::int64_t number) {
  OptionTexts values(sweep.varied.size());
  for (std::size_t i = sweep.varied.size(); i-- > 0;) {
    const Variation& variation = sweep.varied[i];
    const std::int64_t count = std::ssize(variation.values);
    values[i] = {variation.name, variation.values[number % count]};
    number /= count;
  }
  return values;
}

std::vector<Trial> MakeGrid(const SweepSpec& sweep) {
  for (const Variation& variation : sweep.varied) {
    if (!variation.distribution) continue;
    throw UserError(fmt::format(
        "--search grid: --{} is a distribution, which has no list of values; use --search random",
        variation.name));
  }
  const std::optional<std::int64_t> all = Combinations(sweep);
  if (!all || *all > kMostTrials) {
    throw UserError(
        fmt::format("the lists have {} combinations, and a sweep makes at most {} trials; shorten "
                    "the lists, or "
                    "take some at random: --search random --trials 100",
                    all ? Grouped(*all) : "far too many", Grouped(kMostTrials)));
  }
  if (sweep.search.trials > 0 && sweep.search.trials < *all) {
    throw UserError(
        fmt::format("--trials {}: the grid has {} trials; take some at random: --search random",
                    sweep.search.trials, *all));
  }
  std::vector<Trial> trials;
  for (std::int64_t i = 0; i < *all; ++i) trials.push_back(MakeTrial(sweep, Combination(sweep, i)));
  return trials;
}

// Combinations of lists are drawn without being put back, so that no two trials are equal.
std::vector<Trial> MakeRandom(const SweepSpec& sweep) {
  Random random(static_cast<std::uint64_t>(sweep.search.search_seed));
  const std::int64_t wanted = sweep.search.trials > 0 ? sweep.search.trials : kUsualTrials;
  const std::optional<std::int64_t> all = Combinations(sweep);
  std::vector<Trial> trials;
  if (all && *all <= kMostTrials) {
    for (const std::int64_t i : random.Permutation(*all)) {
      if (std::ssize(trials) < wanted) trials.push_back(MakeTrial(sweep, Combination(sweep, i)));
    }
    return trials;
  }
  while (std::ssize(trials) < wanted) {
    OptionTexts values;
    for (const Variation& variation : sweep.varied) {
      values.emplace_back(variation.name, Draw(variation, random));
    }
    trials.push_back(MakeTrial(sweep, std::move(values)));
  }
  return trials;
}

// They differ in their seeds, and share their validation rows.
std::vector<Trial> MakeMembers(SweepSpec sweep) {
  sweep.base.split_seed = SplitSeed(sweep.base);
  std::vector<Trial> trials;
  for (std::int64_t i = 0; i < sweep.search.ensemble; ++i) {
    trials.push_back(MakeTrial(sweep, {{"seed", std::to_string(sweep.base.seed + i)}}));
  }
  return trials;
}

std::vector<Trial> WithFolds(const SweepSpec& sweep, const std::vector<Trial>& settings) {
  const std::int64_t folds = sweep.search.folds;
  if (std::ssize(settings) > kMostTrials / folds) {
    throw UserError(fmt::format(
        "{} trials with {} folds each: a sweep makes at most {} trainings; make fewer trials",
        Grouped(std::ssize(settings)), folds, Grouped(kMostTrials)));
  }
  std::vector<Trial> trials;
  for (const Trial& setting : settings) {
    if (StartsFromFile(setting.spec)) {
      throw UserError(
          fmt::format("--init {}: the model may have learnt from the rows that validate a fold; "
                      "leave out --init "
                      "or --folds",
                      setting.spec.init));
    }
    for (std::int64_t fold = 0; fold < folds; ++fold) {
      OptionTexts values = setting.values;
      values.emplace_back("fold", fmt::format("{}/{}", fold + 1, folds));
      trials.push_back(MakeTrial(sweep, std::move(values)));
      trials.back().fold = fold;
    }
  }
  return trials;
}

// What lanes of one network share. An option that is added later keeps trials apart until it is
// named here.
std::string LanesKey(TrainingSpec spec) {
  const TrainingSpec unset;
  spec.split_seed = SplitSeed(spec);
  spec.seed = unset.seed;
  if (!StartsFromFile(spec)) spec.init = unset.init;
  spec.learning_rate = unset.learning_rate;
  spec.optimizer.momentum = unset.optimizer.momentum;
  spec.optimizer.weight_decay = unset.optimizer.weight_decay;
  spec.target_loss = unset.target_loss;
  spec.patience = unset.patience;
  return SpecToJson(spec);
}

}  // namespace

std::vector<Trial> MakeTrials(const SweepSpec& spec) {
  Validate(spec);
  if (spec.is_ensemble()) return MakeMembers(spec);
  std::vector<Trial> trials =
      spec.ChosenSearch() == Search::kGrid ? MakeGrid(spec) : MakeRandom(spec);
  return spec.search.folds > 0 ? WithFolds(spec, trials) : trials;
}

std::string TrialText(const Trial& trial) {
  std::string text;
  for (const auto& [name, value] : trial.values) {
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

std::vector<std::vector<std::size_t>> GroupTrials(std::span<const Trial> trials) {
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto [found, is_new] = places.emplace(LanesKey(trials[i].spec), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

}  // namespace hogbatch
