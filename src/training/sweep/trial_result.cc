#include "training/sweep/trial_result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace hogbatch {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double LossOf(const std::optional<EvaluationSums>& sums) {
  return sums && sums->rows > 0 ? sums->mean_loss() : kUnknown;
}

double MetricOf(const std::optional<EvaluationSums>& sums, const MetricScale& scale) {
  return sums && sums->rows > 0 ? MetricsOf(*sums, scale).front().value : kUnknown;
}

}  // namespace

bool EndedBadly(TrialState state) {
  return state == TrialState::kDiverged || state == TrialState::kFailed;
}

TrialPoint PointOf(const Evaluation& evaluation, double seconds, const MetricScale& scale) {
  return {.epoch = evaluation.epoch,
          .seconds = seconds,
          .train_loss = LossOf(evaluation.train),
          .valid_loss = LossOf(evaluation.valid),
          .valid_metric = MetricOf(evaluation.valid, scale),
          .test_loss = LossOf(evaluation.test),
          .test_metric = MetricOf(evaluation.test, scale)};
}

const TrialPoint* TrialResult::best() const {
  const TrialPoint* best = nullptr;
  for (const TrialPoint& point : curve) {
    if (!std::isfinite(point.valid_loss)) continue;
    if (!best || point.valid_loss < best->valid_loss) best = &point;
  }
  return best;
}

std::vector<std::size_t> Ranking(std::span<const TrialResult> results) {
  std::vector<std::tuple<bool, bool, double>> keys;
  for (const TrialResult& result : results) {
    const TrialPoint* const best = result.best();
    keys.emplace_back(!best, EndedBadly(result.state), best ? best->valid_loss : 0);
  }
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return keys[i]; });
  return order;
}

}  // namespace hogbatch
