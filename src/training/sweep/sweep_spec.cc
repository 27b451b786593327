#include "training/sweep/sweep_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "core/words.h"
#include "datasets/encoding/split.h"
#include "training/model/schema_json.h"
#include "training/sweep/tuner.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<Search>, 3> kSearches{{
    {"grid", Search::kGrid},
    {"random", Search::kRandom},
    {"asha", Search::kAsha},
}};

}  // namespace

std::string_view Name(Search search) { return NameOf(search, kSearches); }

void SearchOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Search");
  visitor.Word("search", search, WithAuto(WordsOf(kSearches)),
               "Which trials are made: all combinations (grid), random ones (random), or random "
               "ones of which the best go on after each rung (asha, asynchronous successive "
               "halving). auto is grid if every option that varies is a list, else random");
  visitor.Number("trials", trials, {0, static_cast<double>(kMostTrials)},
                 "How many trials random and asha make; 0: 32, or all combinations of lists if "
                 "they are fewer");
  visitor.Number("search-seed", search_seed, kSeedRange, "Seed of the choice of trials");
  visitor.Number("eta", eta, {1.5, 100},
                 "With --search asha, one of this many trials goes on after each rung");
  visitor.Number(
      "min-epochs", min_epochs, {1e-6, 1e6},
      "With --search asha, epochs of the first rung; each further rung is eta times as long, up to "
      "--epochs");
  VisitEnsemble(visitor, ensemble,
                "When the search has ended, train this many networks with the options of the best "
                "trial and different seeds; the saved model predicts their mean. 0: none");
  VisitFolds(visitor, folds,
             "Train every trial this many times, validated on another part of the rows each time, "
             "and compare the means (cross-validation). 0: once");
}

void VisitEnsemble(OptionVisitor& visitor, std::int64_t& members, std::string_view help) {
  visitor.Number("ensemble", members, {0, static_cast<double>(kMostMembers)}, help);
}

void VisitFolds(OptionVisitor& visitor, std::int64_t& folds, std::string_view help) {
  visitor.Number("folds", folds, {0, static_cast<double>(kMostFolds)}, help);
}

Search SweepSpec::ChosenSearch() const {
  if (is_ensemble()) return Search::kGrid;
  if (search.search != "auto") return ParseWord("search", search.search, kSearches);
  const bool all_lists = std::ranges::none_of(
      varied, [](const Variation& variation) { return variation.distribution.has_value(); });
  return all_lists ? Search::kGrid : Search::kRandom;
}

std::vector<double> SweepSpec::Rungs() const {
  if (ChosenSearch() != Search::kAsha) return {base.epochs};
  return MakeRungs(search.min_epochs, base.epochs, search.eta);
}

namespace {

void CheckFolds(const SweepSpec& spec) {
  if (spec.search.folds == 0) return;
  if (spec.search.folds == 1) throw UserError("--folds 1: there are at least two folds");
  if (!spec.base.fold.empty()) {
    throw UserError("--folds already trains every fold; leave out --fold or --folds");
  }
  if (spec.search.ensemble > 0) {
    throw UserError(
        "--ensemble and --folds cannot be combined: each fold trains on other rows; leave out one "
        "of them");
  }
  if (spec.ChosenSearch() == Search::kAsha) {
    throw UserError(
        "--search asha stops single trials, and --folds compares means over all folds; use "
        "--search random");
  }
}

}  // namespace

void Validate(const SweepSpec& spec) {
  CheckFolds(spec);
  const bool has_folds = spec.search.folds > 0 || !spec.base.fold.empty();
  if (spec.base.valid.empty() && spec.base.valid_fraction == 0 && !has_folds) {
    throw UserError(
        "--valid-fraction 0: a sweep compares trials by their validation loss; set rows aside, or "
        "name a file with --valid");
  }
  if (spec.search.ensemble == 1) {
    throw UserError("--ensemble 1: an ensemble has at least two members");
  }
  if (!spec.base.max_time.empty()) ParseDuration("--max-time", spec.base.max_time);
  if (spec.ChosenSearch() != Search::kAsha) return;
  const auto is_epochs = [](const Variation& variation) { return variation.name == "epochs"; };
  if (std::ranges::any_of(spec.varied, is_epochs)) {
    throw UserError("--epochs cannot vary with --search asha, which chooses how long each trains");
  }
  if (spec.search.min_epochs >= spec.base.epochs) {
    throw UserError(
        fmt::format("--min-epochs {:g}: the first rung of asha must be shorter than --epochs {:g}",
                    spec.search.min_epochs, spec.base.epochs));
  }
  if (spec.search.min_epochs < spec.base.eval_every) {
    throw UserError(fmt::format(
        "--min-epochs {:g}: a trial is judged when it is evaluated; lower --eval-every, which is "
        "{:g}",
        spec.search.min_epochs, spec.base.eval_every));
  }
}

}  // namespace hogbatch
