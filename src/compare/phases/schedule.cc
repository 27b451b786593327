#include "compare/phases/schedule.h"

#include <cmath>
#include <map>
#include <utility>

namespace hogbatch::compare {

std::int64_t BatchSizeOf(Fairness fairness, const Side& side, std::int64_t batch,
                         std::int64_t threads) {
  const bool every_worker = side.updates == Updates::kAsynchronous;
  return fairness == Fairness::kRowsInFlight && !every_worker ? batch * threads : batch;
}

std::vector<SpeedCell> SpeedCells(const std::vector<Side>& sides, std::int64_t batch) {
  std::vector<SpeedCell> cells;
  for (const Side& side : sides) {
    for (const std::string& variant : side.variants) cells.push_back({side.name, variant, batch});
  }
  return cells;
}

std::vector<SpeedCell> InFlight(const std::vector<SpeedCell>& cells, const std::vector<Side>& sides,
                                std::int64_t threads) {
  std::vector<SpeedCell> found;
  for (const SpeedCell& cell : cells) {
    const auto side = std::ranges::find(sides, cell.side, &Side::name);
    if (side == sides.end() || IsOwn(*side)) continue;
    const std::int64_t batch = BatchSizeOf(Fairness::kRowsInFlight, *side, cell.batch, threads);
    if (batch != cell.batch) found.push_back({cell.side, cell.variant, batch});
  }
  return found;
}

std::vector<SpeedCell> WorthRepeating(const std::vector<FirstMeasurement>& first) {
  std::map<std::pair<std::string, std::int64_t>, double> fastest;
  for (const FirstMeasurement& measured : first) {
    double& rate = fastest[{measured.cell.side, measured.cell.batch}];
    rate = std::max(rate, measured.examples_per_second);
  }
  std::vector<SpeedCell> worth;
  for (const FirstMeasurement& measured : first) {
    const double rate = fastest[{measured.cell.side, measured.cell.batch}];
    if (measured.examples_per_second > 0 && measured.examples_per_second >= kSlowVariant * rate) {
      worth.push_back(measured.cell);
    }
  }
  return worth;
}

std::int64_t RepeatsWithin(double budget, double repeat_seconds, std::int64_t wanted) {
  const double affordable = std::max(0.0, budget) / std::max(repeat_seconds, 1e-9);
  if (affordable >= static_cast<double>(wanted)) return wanted;
  return std::min(wanted, std::max<std::int64_t>(2, static_cast<std::int64_t>(affordable)));
}

std::vector<GridCell> Grid(const std::vector<std::int64_t>& batches,
                           const std::vector<double>& lrs) {
  std::vector<std::int64_t> rising = batches;
  std::ranges::sort(rising);
  std::vector<GridCell> cells;
  for (const std::size_t colour : {0u, 1u}) {
    for (std::size_t i = 0; i < rising.size(); ++i) {
      for (std::size_t j = 0; j < lrs.size(); ++j) {
        if ((i + j) % 2 == colour) cells.push_back({rising[i], lrs[j]});
      }
    }
  }
  return cells;
}

std::vector<GridCell> CellsBeyondGrid(const GridCell& best, const std::vector<GridCell>& tried) {
  std::vector<double> lrs;
  std::vector<std::int64_t> batches;
  for (const GridCell& cell : tried) {
    lrs.push_back(cell.lr);
    batches.push_back(cell.batch);
  }
  const auto unique = [](auto& values) {
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
  };
  unique(lrs);
  unique(batches);
  std::vector<GridCell> beyond;
  const auto add = [&](const GridCell& cell) {
    const bool known = std::ranges::find(tried, cell) != tried.end();
    if (cell.batch >= 1 && !known) beyond.push_back(cell);
  };
  // Three significant digits, as people write rates.
  const auto scaled = [](double lr, double by) {
    const double unit = std::pow(10, std::floor(std::log10(lr * by)) - 2);
    return std::round(lr * by / unit) * unit;
  };
  if (best.lr == lrs.back()) add({best.batch, scaled(best.lr, 3)});
  if (best.lr == lrs.front()) add({best.batch, scaled(best.lr, 1.0 / 3)});
  if (best.batch == batches.back()) add({best.batch * 4, best.lr});
  if (best.batch == batches.front()) add({best.batch / 4, best.lr});
  return beyond;
}

double SecondsOfAllSides(const std::vector<SideCost>& sides, double seconds,
                         std::int64_t evaluations) {
  double sum = 0;
  for (const SideCost& side : sides) {
    sum += side.overhead_seconds + seconds +
           static_cast<double>(evaluations) * side.evaluation_seconds;
  }
  return sum;
}

std::int64_t EvaluationsWithin(const SideCost& cost, double seconds, std::int64_t wanted,
                               double share) {
  constexpr std::int64_t kFewest = 3;
  if (cost.evaluation_seconds <= 0) return wanted;
  const double fit = std::floor(share * seconds / cost.evaluation_seconds);
  return std::clamp(static_cast<std::int64_t>(std::min(fit, 1e6)), kFewest, wanted);
}

double SecondsWithin(double budget, const std::vector<SideCost>& sides, std::int64_t runs,
                     std::int64_t evaluations, double shortest, double longest) {
  if (sides.empty() || runs < 1) return shortest;
  const double each = budget / static_cast<double>(runs);
  const double left = each - SecondsOfAllSides(sides, 0, evaluations);
  return std::clamp(left / static_cast<double>(sides.size()), shortest, longest);
}

}  // namespace hogbatch::compare
