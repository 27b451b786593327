#include "compare/page/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace hogbatch::compare {
namespace {

constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;

std::string Times(double factor) {
  if (factor >= 99.5) return fmt::format("{:.0f}", factor);
  if (factor >= 9.95) return fmt::format("{:.1f}", factor);
  return fmt::format("{:.2f}", factor);
}

const RaceFinding* Reference(const Findings& findings) {
  const auto found = std::ranges::find(findings.races, kReference, &RaceFinding::side);
  return found == findings.races.end() ? nullptr : &*found;
}

}  // namespace

std::string SecondsText(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.2f} s", seconds);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  return ShortTime(seconds);
}

std::string BytesText(double bytes) {
  if (bytes < kGiga) return fmt::format("{:.0f} MB", bytes / kMega);
  return fmt::format("{:.2f} GB", bytes / kGiga);
}

std::string RateText(double rate) {
  // Three digits; more would pretend.
  const double unit = rate > 0 ? std::pow(10, std::max(0.0, std::floor(std::log10(rate)) - 2)) : 1;
  return Grouped(std::llround(std::round(rate / unit) * unit));
}

std::string MetricText(double value) { return fmt::format("{:.4f}", value); }

std::string SpreadText(const Spread& spread, std::string (*text)(double)) {
  if (spread.count < 2) return text(spread.median);
  return fmt::format("{} ({}–{})", text(spread.median), text(spread.min), text(spread.max));
}

std::string RatioText(const std::optional<Ratio>& ratio) {
  if (!ratio) return "–";
  if (ratio->repeats < 2) return fmt::format("{}×", Times(ratio->mean));
  return fmt::format("{}× ({}–{})", Times(ratio->mean), Times(ratio->low), Times(ratio->high));
}

std::string VerdictText(const std::optional<Ratio>& ratio) {
  if (!ratio) return "–";
  switch (ratio->verdict) {
    case Verdict::kHigher:
      return "hogbatch better";
    case Verdict::kLower:
      return "hogbatch worse";
    case Verdict::kNoise:
      return "noise";
    case Verdict::kUnknown:
      break;
  }
  return "one repeat";
}

std::string SettingText(const BestSetting& setting) {
  return fmt::format("{} rows, lr {:g}", setting.cell.batch, setting.cell.lr);
}

std::string MetricName(const RunLog& log) {
  for (const RunRecord* run : log.Of(Phase::kCurve)) {
    if (run->metric.empty()) continue;
    std::string name = run->metric;
    if (const auto at = name.find("_at_"); at != std::string::npos) name.replace(at, 4, "@");
    std::ranges::replace(name, '_', ' ');
    return name;
  }
  return "";
}

std::string RaceSeconds(const RaceFinding& race) {
  if (race.runs == 0) return "–";
  if (!race.seconds) return fmt::format("not in {}", SecondsText(race.tried_seconds));
  std::string text = SpreadText(race.seconds->spread, SecondsText);
  if (race.reached < race.runs) text += fmt::format(", {} of {} runs", race.reached, race.runs);
  return text;
}

std::string RaceAdvantage(const RaceFinding& race, const Findings& findings) {
  if (race.seconds) return RatioText(race.seconds->advantage);
  const RaceFinding* own = Reference(findings);
  if (race.runs == 0 || !own || !own->seconds) return "–";
  return fmt::format("at least {}×", Times(race.tried_seconds / own->seconds->spread.median));
}

std::string RaceVerdict(const RaceFinding& race, const Findings& findings) {
  if (race.seconds && race.reached == race.runs) return VerdictText(race.seconds->advantage);
  const RaceFinding* own = Reference(findings);
  const bool own_reached = own && own->seconds && own->reached == own->runs;
  if (race.runs == 0 || !own_reached) return "–";
  return race.tried_seconds > own->seconds->spread.max ? "hogbatch better" : "unclear";
}

std::vector<std::string> ResultLines(const Comparison& comparison) {
  const Findings& findings = comparison.findings;
  std::vector<std::string> lines;
  for (const std::int64_t batch : comparison.plan.batches) {
    for (const SpeedFinding& speed : findings.speeds) {
      if (speed.batch != batch || !speed.fastest_variant ||
          speed.fairness != Fairness::kRowsPerUpdate) {
        continue;
      }
      lines.push_back(fmt::format("{:>5} rows  {:22} {:>10} rows/s  {}", batch, speed.variant,
                                  RateText(speed.rate.median), RatioText(speed.advantage)));
    }
  }
  if (!findings.target || findings.races.empty()) return lines;
  lines.push_back(fmt::format("time to a loss of {:.4g}", findings.target->loss));
  for (const RaceFinding& race : findings.races) {
    lines.push_back(fmt::format("  {:22} {:24} {:20} {}", race.side, RaceSeconds(race),
                                RaceAdvantage(race, findings), SettingText(race.setting)));
  }
  return lines;
}

}  // namespace hogbatch::compare
