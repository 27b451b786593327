#include "compare/phases/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hogbatch::compare {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

GridCell CellOf(const RunRecord& run) { return {run.plan.batch, run.plan.lr}; }

double LowestLoss(const RunRecord& run) {
  if (!run.done()) return kNone;
  const auto best = BestPoint(run.curve, run.plan.counted_seconds());
  return best ? best->loss : kNone;
}

// A side's lowest loss when tuned.
struct Reached {
  std::string side;
  double loss = kNone;
};

double UpToFourDigits(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 3);
  return std::ceil(value / unit - 1e-9) * unit;
}

double InitialLoss(const RunLog& log) {
  double loss = 0;
  for (const RunRecord* run : log.Of(Phase::kTuning)) {
    if (!run->curve.empty()) loss = std::max(loss, run->curve.front().loss);
  }
  return loss;
}

std::vector<Reached> LowestLosses(const RunLog& log, const std::vector<Side>& sides) {
  std::vector<Reached> all;
  for (const Side& side : sides) {
    Reached reached{.side = side.name};
    for (const RunRecord* run : log.Of(Phase::kTuning, side.name)) {
      reached.loss = std::min(reached.loss, LowestLoss(*run));
    }
    if (std::isfinite(reached.loss)) all.push_back(reached);
  }
  std::ranges::sort(all, {}, &Reached::loss);
  return all;
}

bool AtEdge(const GridCell& best, const std::vector<const RunRecord*>& runs) {
  std::vector<GridCell> tried;
  for (const RunRecord* run : runs) tried.push_back(CellOf(*run));
  return !CellsBeyondGrid(best, tried).empty();
}

}  // namespace

std::vector<GridCell> Survivors(const std::vector<const RunRecord*>& runs, std::size_t count) {
  std::vector<const RunRecord*> ranked = runs;
  std::ranges::stable_sort(ranked, {}, [](const RunRecord* run) { return LowestLoss(*run); });
  std::vector<GridCell> best;
  for (const RunRecord* run : ranked) {
    if (best.size() == count || !std::isfinite(LowestLoss(*run))) break;
    if (std::ranges::find(best, CellOf(*run)) == best.end()) best.push_back(CellOf(*run));
  }
  return best;
}

std::optional<Target> ChooseTarget(const RunLog& log, const std::vector<Side>& sides,
                                   double wanted) {
  if (wanted > 0) return Target{wanted, "It was given with --target-loss."};
  std::vector<Reached> reached = LowestLosses(log, sides);
  if (reached.empty()) return std::nullopt;
  const double initial = InitialLoss(log);
  const double median = reached[reached.size() / 2].loss;
  std::string left_out;
  std::erase_if(reached, [&](const Reached& side) {
    const bool slow = side.loss > median + 0.25 * (initial - median);
    if (slow) left_out += (left_out.empty() ? "" : ", ") + side.side;
    return slow;
  });
  const Reached& last = reached.back();
  // Near 0 a share of the way would be many times the loss itself.
  constexpr double kOfWay = 0.02, kOfLoss = 0.05;
  const double margin = std::min(kOfWay * std::max(0.0, initial - last.loss), kOfLoss * last.loss);
  std::string how = fmt::format(
      "When tuned, every side reached it: {} got no lower than {:.4f}, and {} are added because "
      "other initial weights may need longer.",
      last.side, last.loss,
      margin < kOfLoss * last.loss
          ? fmt::format("2 % of its way from the initial loss of {:.4f}", initial)
          : "5 % of that");
  if (!left_out.empty()) {
    how += fmt::format(
        " Not counted: {}, which came less than three quarters of the way of the median side.",
        left_out);
  }
  return Target{UpToFourDigits(last.loss + margin), how};
}

std::optional<BestSetting> ChooseSetting(const RunLog& log, const Side& side, double target) {
  const std::vector<const RunRecord*> runs = log.Of(Phase::kTuning, side.name);
  const RunRecord* first = nullptr;
  std::optional<double> fastest;
  std::vector<GridCell> tried;
  BestSetting setting{.side = side.name, .variant = {}, .cell = {}, .seconds = {}, .loss = kNone};
  for (const RunRecord* run : runs) {
    setting.tuning_seconds += run->train_seconds;
    if (std::ranges::find(tried, CellOf(*run)) == tried.end()) tried.push_back(CellOf(*run));
    if (!std::isfinite(LowestLoss(*run))) continue;
    const auto seconds = SecondsTo(run->curve, target, run->plan.counted_seconds());
    const bool faster = seconds && (!fastest || *seconds < *fastest);
    const bool lower = !fastest && !seconds && LowestLoss(*run) < setting.loss;
    setting.loss = std::min(setting.loss, LowestLoss(*run));
    if (!faster && !lower && first) continue;
    if (faster) fastest = seconds;
    first = run;
  }
  if (!first) return std::nullopt;
  setting.variant = first->plan.variant;
  setting.cell = CellOf(*first);
  setting.seconds = fastest;
  setting.tried = static_cast<std::int64_t>(tried.size());
  setting.at_edge = AtEdge(setting.cell, runs);
  return setting;
}

}  // namespace hogbatch::compare
