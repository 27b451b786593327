#include "compare/findings/findings.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "compare/findings/curve_findings.h"

namespace hogbatch::compare {
namespace {

using Runs = std::vector<const RunRecord*>;
using Value = std::function<std::optional<double>(const RunRecord&)>;

// The values of the runs, by repeat.
std::map<std::int64_t, double> ByRound(const Runs& runs, const Value& value) {
  std::map<std::int64_t, double> values;
  for (const RunRecord* run : runs) {
    if (!run->done()) continue;
    if (const auto found = value(*run)) values[run->plan.repeat] = *found;
  }
  return values;
}

// Runs of a speed, first measurements included.
Runs SpeedRuns(const RunLog& log, const SpeedCell& cell) {
  Runs runs = log.Of(Phase::kThroughput, cell.side);
  std::erase_if(runs, [&](const RunRecord* run) {
    return run->plan.variant != cell.variant || run->plan.batch != cell.batch || !run->done();
  });
  return runs;
}

std::vector<Pair> PairsOf(const std::map<std::int64_t, double>& values,
                          const std::map<std::int64_t, double>& reference) {
  std::vector<Pair> pairs;
  for (const auto& [repeat, value] : values) {
    const auto other = reference.find(repeat);
    if (other != reference.end()) pairs.push_back({.value = value, .reference = other->second});
  }
  return pairs;
}

std::vector<double> ValuesIn(const std::map<std::int64_t, double>& by_repeat) {
  std::vector<double> values;
  for (const auto& [repeat, value] : by_repeat) values.push_back(value);
  return values;
}

std::optional<double> RateOf(const RunRecord& run) {
  if (run.examples_per_second <= 0) return std::nullopt;
  return run.examples_per_second;
}

std::vector<SpeedFinding> SpeedsAt(const RunLog& log, const FindingFacts& facts, Fairness fairness,
                                   std::int64_t batch) {
  std::vector<SpeedFinding> found;
  const Side& own = facts.sides.front();
  const auto reference = ByRound(SpeedRuns(log, {own.name, own.variants.front(), batch}), RateOf);
  for (const Side& side : facts.sides) {
    const std::int64_t side_batch = BatchSizeOf(fairness, side, batch, facts.threads);
    std::size_t fastest = found.size();
    for (const std::string& variant : side.variants) {
      const auto rates = ByRound(SpeedRuns(log, {side.name, variant, side_batch}), RateOf);
      const auto spread = SpreadOf(ValuesIn(rates));
      if (!spread) continue;
      SpeedFinding finding{.fairness = fairness,
                           .batch = batch,
                           .side = side.name,
                           .variant = VariantName(side, variant),
                           .side_batch = side_batch,
                           .rate = *spread};
      if (side.name != own.name) finding.advantage = RatioOf(PairsOf(reference, rates));
      found.push_back(finding);
      if (spread->median >= found[fastest].rate.median) fastest = found.size() - 1;
    }
    if (fastest < found.size()) found[fastest].fastest_variant = true;
  }
  return found;
}

// A cost of a side, paired with hogbatch's.
std::optional<CostFinding> CostOf(const Runs& runs, const Runs& reference, const Value& value) {
  const auto costs = ByRound(runs, value);
  const auto spread = SpreadOf(ValuesIn(costs));
  if (!spread) return std::nullopt;
  CostFinding finding{.spread = *spread, .advantage = {}};
  if (runs != reference) {
    finding.advantage = RatioOf(PairsOf(costs, ByRound(reference, value)));
  }
  return finding;
}

RaceFinding RaceOf(const RunLog& log, const BestSetting& setting, double target,
                   std::int64_t train_rows) {
  const Runs runs = log.Of(Phase::kRace, setting.side);
  const Runs reference = log.Of(Phase::kRace, kReference);
  const auto seconds = [&](const RunRecord& run) {
    return SecondsTo(run.curve, target, run.plan.counted_seconds());
  };
  RaceFinding finding{.side = setting.side, .setting = setting};
  for (const RunRecord* run : runs) {
    ++finding.runs;
    if (run->done() && seconds(*run)) {
      ++finding.reached;
    } else if (run->done()) {
      const double tried = run->plan.seconds;
      finding.tried_seconds =
          finding.tried_seconds > 0 ? std::min(finding.tried_seconds, tried) : tried;
    }
  }
  finding.seconds = CostOf(runs, reference, seconds);
  finding.memory = CostOf(runs, reference, [](const RunRecord& run) {
    return std::optional(static_cast<double>(run.peak_bytes));
  });
  const auto reached = [&](double value, const RunRecord& run) {
    return seconds(run) ? std::optional(value) : std::nullopt;
  };
  finding.cpu =
      CostOf(runs, reference, [&](const RunRecord& run) { return reached(run.cpu_seconds, run); });
  finding.wall =
      CostOf(runs, reference, [&](const RunRecord& run) { return reached(run.wall_seconds, run); });
  finding.start = CostOf(runs, reference, [&](const RunRecord& run) {
    const double before = std::max(0.0, run.wall_seconds - run.seconds);
    const auto rows = static_cast<double>(train_rows);
    return RateOf(run) ? std::optional(before + rows / run.examples_per_second) : std::nullopt;
  });
  return finding;
}

// By seed, the loss of the initial weights as this side computed it.
std::map<std::int64_t, double> InitialLosses(const RunLog& log, const std::string& side) {
  std::map<std::int64_t, double> losses;
  for (const RunRecord& run : log.records()) {
    if (run.plan.side != side || run.curve.empty() || run.curve.front().epoch > 0) continue;
    losses.emplace(run.plan.seed, run.curve.front().loss);
  }
  return losses;
}

std::optional<InitialLossGap> InitialLossGapOf(const RunLog& log, const std::vector<Side>& sides) {
  const auto reference = InitialLosses(log, kReference);
  if (reference.empty()) return std::nullopt;
  InitialLossGap initial{.loss = reference.begin()->second};
  for (const Side& side : sides) {
    for (const auto& [seed, loss] : InitialLosses(log, side.name)) {
      const auto own = reference.find(seed);
      if (own == reference.end() || own->second <= 0) continue;
      const double difference = std::abs(loss / own->second - 1);
      if (difference <= initial.largest_difference) continue;
      initial.largest_difference = difference;
      initial.side = side.name;
    }
  }
  return initial;
}

std::vector<Failure> FailuresOf(const RunLog& log) {
  std::vector<Failure> failures;
  for (const RunRecord& run : log.records()) {
    if (run.done() || run.outcome == Outcome::kDiverged) continue;
    const auto same = std::ranges::find_if(failures, [&](const Failure& failure) {
      return failure.side == run.plan.side && failure.variant == run.plan.variant;
    });
    if (same != failures.end()) {
      ++same->runs;
      continue;
    }
    failures.push_back(
        {run.plan.side, run.plan.variant, std::string(Name(run.outcome)), run.message, 1});
  }
  return failures;
}

}  // namespace

Findings FindingsOf(const RunLog& log, const FindingFacts& facts) {
  Findings findings;
  for (const Fairness fairness : {Fairness::kRowsPerUpdate, Fairness::kRowsInFlight}) {
    for (const std::int64_t batch : facts.batches) {
      std::ranges::move(SpeedsAt(log, facts, fairness, batch), std::back_inserter(findings.speeds));
    }
  }
  findings.failures = FailuresOf(log);
  findings.initial_loss = InitialLossGapOf(log, facts.sides);
  std::vector<double> others;
  for (const RunRecord& run : log.records()) others.push_back(run.others_cpu);
  if (const auto spread = SpreadOf(others)) {
    findings.others_cpu = spread->median;
    findings.most_others_cpu = spread->max;
  }
  findings.target = ChooseTarget(log, facts.sides, facts.target_loss);
  if (!findings.target || log.Of(Phase::kTuning).empty()) return findings;
  for (const Side& side : facts.sides) {
    if (const auto setting = ChooseSetting(log, side, findings.target->loss)) {
      findings.races.push_back(RaceOf(log, *setting, findings.target->loss, facts.train_rows));
    }
  }
  findings.levels = LevelsBelow(log, findings.target->loss);
  findings.curves = CurvesOf(log, facts.sides, findings.levels);
  return findings;
}

}  // namespace hogbatch::compare
