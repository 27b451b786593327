#include "training/sweep/tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/error.h"

namespace hogbatch {

Tuner::Tuner(std::size_t trials, std::size_t rungs, double eta)
    : rungs_(rungs), eta_(eta), begun_(trials) {
  Check(rungs > 0 && eta > 1, "a search has a rung, and halving leaves fewer trials");
}

void Tuner::Restore(std::size_t trial, std::span<const double> losses, After after) {
  begun_[trial] = true;
  for (std::size_t rung = 0; rung < losses.size(); ++rung) {
    const bool is_last = rung + 1 == losses.size();
    ++under_way_;
    Finish({.trial = trial, .rung = rung}, losses[rung], is_last ? after : After::kOver);
  }
}

void Tuner::RestoreUnfinished(std::size_t trial, std::span<const double> losses) {
  Restore(trial, losses, After::kOver);  // it was promoted
  unfinished_.push_back({.trial = trial, .rung = losses.size()});
}

std::optional<Tuner::Leg> Tuner::Promotion() const {
  for (std::size_t rung = rungs_.size() - 1; rung-- > 0;) {
    const std::vector<Result>& results = rungs_[rung];
    const auto best =
        static_cast<std::size_t>(std::floor(static_cast<double>(results.size()) / eta_ + 1e-9));
    for (std::size_t i = 0; i < best; ++i) {
      if (results[i].may_go_on) return Leg{.trial = results[i].trial, .rung = rung + 1};
    }
  }
  return std::nullopt;
}

void Tuner::MarkPromoted(Leg leg) {
  std::vector<Result>& results = rungs_[leg.rung - 1];
  std::ranges::find(results, leg.trial, &Result::trial)->may_go_on = false;
}

std::optional<Tuner::Leg> Tuner::Next() {
  std::optional<Leg> next = unfinished_.empty() ? Promotion() : unfinished_.front();
  if (!unfinished_.empty()) {
    unfinished_.pop_front();
  } else if (next) {
    MarkPromoted(*next);
  } else {
    while (next_trial_ < begun_.size() && begun_[next_trial_]) ++next_trial_;
    if (next_trial_ == begun_.size()) return std::nullopt;
    begun_[next_trial_] = true;
    next = Leg{.trial = next_trial_, .rung = 0};
  }
  ++under_way_;
  return next;
}

void Tuner::Finish(Leg leg, double loss, After after) {
  Check(under_way_ > 0 && leg.rung < rungs_.size(), "a result for a leg that is under way");
  --under_way_;
  const bool is_finite = std::isfinite(loss);
  const Result result{.loss = is_finite ? loss : std::numeric_limits<double>::infinity(),
                      .trial = leg.trial,
                      .may_go_on = is_finite && after == After::kMayGoOn};
  std::vector<Result>& results = rungs_[leg.rung];
  const auto rank = [](const Result& r) { return std::tuple(r.loss, r.trial); };
  results.insert(std::ranges::upper_bound(results, rank(result), {}, rank), result);
}

bool Tuner::done() const {
  return under_way_ == 0 && unfinished_.empty() && !Promotion() &&
         std::ranges::find(begun_, false) == begun_.end();
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
  return epochs;
}

}  // namespace hogbatch
