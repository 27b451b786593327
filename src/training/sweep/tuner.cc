#include "training/sweep/tuner.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

// What further trials may fill: a fifth of the epochs that all trials would train to the end.
double Budget(std::size_t trials, double epochs) {
  return 0.2 * static_cast<double>(trials) * epochs;
}

}  // namespace

Tuner::Tuner(std::size_t trials, std::vector<double> rungs, double eta)
    : lengths_(std::move(rungs)), results_(lengths_.size()), eta_(eta), begun_(trials) {
  Check(!lengths_.empty() && eta > 1, "a search has a rung, and halving leaves fewer trials");
}

void Tuner::Restore(std::size_t trial, std::span<const double> losses, Promotable promotable) {
  MarkChosen({.trial = trial, .rung = 0});
  for (std::size_t rung = 0; rung < losses.size(); ++rung) {
    const bool is_last = rung + 1 == losses.size();
    HandOut({.trial = trial, .rung = rung});
    Finish({.trial = trial, .rung = rung}, losses[rung], is_last ? promotable : Promotable::kNo);
  }
}

void Tuner::RestoreUnfinished(std::size_t trial, std::span<const double> losses) {
  Restore(trial, losses, Promotable::kNo);  // it was promoted
  unfinished_.push_back({.trial = trial, .rung = losses.size()});
}

std::optional<Tuner::Stage> Tuner::Promotion() const {
  for (std::size_t rung = results_.size() - 1; rung-- > 0;) {
    const std::vector<Result>& results = results_[rung];
    const auto best =
        static_cast<std::size_t>(std::floor(static_cast<double>(results.size()) / eta_ + 1e-9));
    for (std::size_t i = 0; i < best; ++i) {
      if (results[i].is_promotable) return Stage{.trial = results[i].trial, .rung = rung + 1};
    }
  }
  return std::nullopt;
}

// Each is charged with all epochs to the end: otherwise trials of a low rung would use up the
// budget, and none of them would come there.
std::vector<Tuner::Stage> Tuner::Further() const {
  std::vector<Stage> further;
  if (deciding_ > 0 || !have_all_begun()) return further;
  double left = Budget(begun_.size(), lengths_.back()) - spent_;
  for (std::size_t rung = results_.size() - 1; rung-- > 0 && further.empty();) {
    const double epochs = lengths_.back() - lengths_[rung];
    for (const Result& result : results_[rung]) {
      if (!result.is_promotable || epochs > left) continue;
      left -= epochs;
      further.push_back({.trial = result.trial, .rung = rung + 1});
    }
  }
  return further;
}

void Tuner::MarkChosen(Stage stage) {
  if (stage.rung == 0) {
    begun_[stage.trial] = true;
    while (!have_all_begun() && begun_[next_trial_]) ++next_trial_;
    return;
  }
  std::vector<Result>& results = results_[stage.rung - 1];
  std::ranges::find(results, stage.trial, &Result::trial)->is_promotable = false;
}

std::optional<Tuner::Stage> Tuner::Next() {
  if (unfinished_.empty()) {
    if (const std::optional<Stage> next = Promotion()) {
      unfinished_.push_back(*next);
    } else if (!have_all_begun()) {
      unfinished_.push_back({.trial = next_trial_, .rung = 0});
    } else {
      std::ranges::copy(Further(), std::back_inserter(unfinished_));
    }
    for (const Stage stage : unfinished_) MarkChosen(stage);
  }
  if (unfinished_.empty()) return std::nullopt;
  const Stage next = unfinished_.front();
  unfinished_.pop_front();
  HandOut(next);
  return next;
}

void Tuner::HandOut(Stage stage) {
  Check(stage.rung < lengths_.size(), "a trial trains up to the last rung");
  spent_ += lengths_[stage.rung] - (stage.rung > 0 ? lengths_[stage.rung - 1] : 0);
  ++under_way_;
  if (stage.rung + 1 < lengths_.size()) ++deciding_;
}

void Tuner::Finish(Stage stage, double loss, Promotable promotable) {
  Check(under_way_ > 0 && stage.rung < lengths_.size(), "a result for a stage that is under way");
  --under_way_;
  if (stage.rung + 1 < lengths_.size()) --deciding_;
  const bool is_finite = std::isfinite(loss);
  const Result result{.loss = is_finite ? loss : std::numeric_limits<double>::infinity(),
                      .trial = stage.trial,
                      .is_promotable = is_finite && promotable == Promotable::kYes};
  std::vector<Result>& results = results_[stage.rung];
  const auto rank = [](const Result& r) { return std::tuple(r.loss, r.trial); };
  results.insert(std::ranges::upper_bound(results, rank(result), {}, rank), result);
}

bool Tuner::done() const {
  return under_way_ == 0 && unfinished_.empty() && !Promotion() && have_all_begun() &&
         Further().empty();
}

std::vector<double> MakeRungs(double min_epochs, double epochs, double eta) {
  std::vector<double> rungs;
  for (double rung = min_epochs; rung < epochs * (1 - 1e-9); rung *= eta) rungs.push_back(rung);
  rungs.push_back(epochs);
  return rungs;
}

double ExpectedEpochs(std::size_t trials, std::span<const double> rungs, double eta) {
  double epochs = 0, from = 0;
  auto going_on = static_cast<double>(trials);
  for (const double rung : rungs) {
    epochs += going_on * (rung - from);
    from = rung;
    going_on = std::floor(going_on / eta + 1e-9);
  }
  return std::max(epochs, Budget(trials, rungs.back()));
}

}  // namespace hogbatch
