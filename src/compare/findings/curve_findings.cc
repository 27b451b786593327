#include "compare/findings/curve_findings.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace hogbatch::compare {
namespace {

using Runs = std::vector<const RunRecord*>;

constexpr int kSamples = 60;
constexpr int kLevels = 3;  // below the target

Runs DoneRuns(const RunLog& log, const std::string& side) {
  Runs runs = log.Of(Phase::kCurve, side);
  std::erase_if(runs, [](const RunRecord* run) { return !run->done() || run->curve.empty(); });
  return runs;
}

// The loss at a time, linear between evaluations; none outside of them.
std::optional<double> LossAt(const std::vector<CurvePoint>& curve, double seconds) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const CurvePoint& a = curve[i - 1];
    const CurvePoint& b = curve[i];
    if (seconds < a.seconds || seconds > b.seconds) continue;
    if (b.seconds <= a.seconds) return b.loss;
    return a.loss + (b.loss - a.loss) * (seconds - a.seconds) / (b.seconds - a.seconds);
  }
  return std::nullopt;
}

// Times at which lines are drawn: closer at first, where losses fall fast.
std::vector<double> SampleTimes(const Runs& runs) {
  double end = 0;
  for (const RunRecord* run : runs) {
    end = std::max(end, std::min(run->plan.counted_seconds(), run->curve.back().seconds));
  }
  std::vector<double> times;
  for (int i = 0; i <= kSamples; ++i) {
    const double share = static_cast<double>(i) / kSamples;
    times.push_back(end * share * share);
  }
  return times;
}

std::vector<CurveSample> SamplesOf(const Runs& runs) {
  std::vector<CurveSample> samples;
  for (const double seconds : SampleTimes(runs)) {
    std::vector<double> losses;
    for (const RunRecord* run : runs) {
      if (const auto loss = LossAt(run->curve, seconds)) losses.push_back(*loss);
    }
    // A line that some of the seeds have left already would jump.
    if (losses.size() < runs.size()) continue;
    const auto spread = SpreadOf(losses);
    samples.push_back({seconds, spread->median, spread->min, spread->max});
  }
  return samples;
}

std::optional<double> MedianLowest(const Runs& runs) {
  std::vector<double> losses;
  for (const RunRecord* run : runs) {
    if (const auto best = BestPoint(run->curve, run->plan.counted_seconds()))
      losses.push_back(best->loss);
  }
  const auto spread = SpreadOf(losses);
  return spread ? std::optional(spread->median) : std::nullopt;
}

// The median where most of the runs reached it.
std::optional<double> MedianSecondsTo(const Runs& runs, double level) {
  std::vector<double> seconds;
  for (const RunRecord* run : runs) {
    if (const auto at = SecondsTo(run->curve, level, run->plan.counted_seconds()))
      seconds.push_back(*at);
  }
  if (2 * seconds.size() <= runs.size()) return std::nullopt;
  return SpreadOf(seconds)->median;
}

std::map<std::int64_t, double> MetricsByRound(const Runs& runs) {
  std::map<std::int64_t, double> metrics;
  for (const RunRecord* run : runs) {
    const auto best = BestPoint(run->curve, run->plan.counted_seconds());
    if (best && best->metric) metrics[run->plan.repeat] = *best->metric;
  }
  return metrics;
}

void AddMetric(CurveFinding& finding, const Runs& runs, const Runs& reference) {
  const auto metrics = MetricsByRound(runs);
  const auto others = MetricsByRound(reference);
  std::vector<double> values;
  std::vector<Pair> pairs;
  for (const auto& [repeat, metric] : metrics) {
    values.push_back(metric);
    if (const auto other = others.find(repeat); other != others.end()) {
      pairs.push_back({.value = metric, .reference = other->second});
    }
  }
  finding.metric = SpreadOf(values);
  if (finding.side != kReference) finding.metric_difference = DifferenceOf(pairs);
}

}  // namespace

std::vector<double> LevelsBelow(const RunLog& log, double target) {
  std::map<std::string, Runs> by_side;
  for (const RunRecord* run : log.Of(Phase::kCurve)) {
    if (run->done()) by_side[run->plan.side].push_back(run);
  }
  double lowest = target;
  for (const auto& [side, runs] : by_side) {
    lowest = std::min(lowest, MedianLowest(runs).value_or(target));
  }
  std::vector<double> levels = {target};
  for (int i = 1; i <= kLevels && lowest < target; ++i) {
    levels.push_back(target - (target - lowest) * i / (kLevels + 0.5));
  }
  return levels;
}

std::vector<CurveFinding> CurvesOf(const RunLog& log, const std::vector<Side>& sides,
                                   const std::vector<double>& levels) {
  std::vector<CurveFinding> curves;
  const Runs reference = DoneRuns(log, kReference);
  for (const Side& side : sides) {
    const Runs runs = DoneRuns(log, side.name);
    if (runs.empty()) continue;
    CurveFinding finding{.side = side.name,
                         .trained_seconds = runs.front()->plan.seconds,
                         .samples = SamplesOf(runs)};
    std::vector<double> losses;
    for (const RunRecord* run : runs) {
      if (const auto best = BestPoint(run->curve, run->plan.counted_seconds()))
        losses.push_back(best->loss);
    }
    finding.loss = SpreadOf(losses);
    AddMetric(finding, runs, reference);
    for (const double level : levels) {
      finding.level_seconds.push_back(MedianSecondsTo(runs, level));
    }
    curves.push_back(finding);
  }
  return curves;
}

}  // namespace hogbatch::compare
