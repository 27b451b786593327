#include "compare/runs/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "compare/runs/side.h"
#include "core/words.h"

namespace hogbatch::compare {
namespace {

constexpr std::array<NamedValue<Phase>, 4> kPhases{{
    {"throughput", Phase::kThroughput},
    {"tuning", Phase::kTuning},
    {"race", Phase::kRace},
    {"curve", Phase::kCurve},
}};

constexpr std::array<NamedValue<Outcome>, 5> kOutcomes{{
    {"done", Outcome::kDone},
    {"diverged", Outcome::kDiverged},
    {"impossible", Outcome::kImpossible},
    {"failed", Outcome::kFailed},
    {"timed_out", Outcome::kTimedOut},
}};

}  // namespace

std::string_view Name(Phase phase) { return NameOf(phase, kPhases); }
std::string_view Name(Outcome outcome) { return NameOf(outcome, kOutcomes); }
Phase ParsePhase(std::string_view name) { return ParseWord("phase", name, kPhases); }
Outcome ParseOutcome(std::string_view name) { return ParseWord("outcome", name, kOutcomes); }

std::string VariantName(const Side& side, const std::string& variant) {
  return side.variants.size() < 2 ? side.name : fmt::format("{} {}", side.name, variant);
}

std::string RunPlan::key() const {
  std::string text = fmt::format("{}-{}-{}-b{}-lr{:g}-seed{}-round{}-{:.3g}s", Name(phase), side,
                                 variant, batch, lr, seed, repeat, seconds);
  if (stop) text += fmt::format("-to{:.6g}", *stop);
  for (char& letter : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) || letter == '.';
    if (!plain) letter = '-';
  }
  return text;
}

std::optional<double> SecondsTo(const std::vector<CurvePoint>& curve, double target,
                                double within) {
  const CurvePoint* before = nullptr;
  for (const CurvePoint& point : curve) {
    if (point.seconds > within) break;
    if (std::isfinite(point.loss) && point.loss <= target) {
      if (!before || before->loss <= point.loss) return point.seconds;
      const double share = (before->loss - target) / (before->loss - point.loss);
      return before->seconds + share * (point.seconds - before->seconds);
    }
    if (std::isfinite(point.loss)) before = &point;
  }
  return std::nullopt;
}

std::optional<CurvePoint> BestPoint(const std::vector<CurvePoint>& curve, double within) {
  std::optional<CurvePoint> best;
  for (const CurvePoint& point : curve) {
    if (point.seconds > within || !std::isfinite(point.loss)) continue;
    if (!best || point.loss < best->loss) best = point;
  }
  return best;
}

}  // namespace hogbatch::compare
