#include "report/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hogbatch::report {
namespace {

struct Unit {
  double size;
  const char* name;
};

constexpr std::array kThousands = {Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"}, Unit{1e3, "k"}};
constexpr std::array kDurations = {Unit{86400, "days"}, Unit{3600, "h"}, Unit{60, "min"}};

// A step of 1, 2 or 5 times a power of ten near range / wanted.
double RoundStep(double range, int wanted) {
  const double rough = range / std::max(wanted, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= 0.7 * rough) return factor * power;
  }
  return 10 * power;
}

// Multiples of `step` in [from, to]. A bound that is a multiple but for rounding counts.
std::vector<double> Multiples(double from, double to, double step) {
  std::vector<double> values;
  const double slack = 1e-6;
  const double last = std::floor(to / step + slack);
  for (double i = std::ceil(from / step - slack); i <= last && values.size() < 100; ++i) {
    values.push_back(i == 0 ? 0 : i * step);
  }
  return values;
}

int Decimals(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-6)), 0, 12);
}

std::vector<Tick> LinearTicks(double from, double to, double step) {
  const double largest = std::max(std::abs(from), std::abs(to));
  std::vector<Tick> ticks;
  Unit unit{1, ""};
  if (largest >= 10000) {
    unit = *std::ranges::find_if(
        kThousands, [&](const Unit& candidate) { return candidate.size <= largest * 1.0001; });
  }
  for (const double value : Multiples(from, to, step)) {
    const bool plain = largest >= 1e-4 && largest < 1e15;
    ticks.push_back({value, value == 0 ? "0"
                            : plain    ? fmt::format("{:.{}f}{}", value / unit.size,
                                                     Decimals(step / unit.size), unit.name)
                                       : fmt::format("{:.3g}", value)});
  }
  return ticks;
}

AxisTicks TimeTicks(double from, double to, int wanted) {
  // Sixty of one unit make the next, so that steps of 15 and 30 are rounder than 20 and 50. Parts
  // of a unit are quarters and halves, which a reader can turn into the smaller unit.
  constexpr std::array kSteps = {0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0};
  Unit unit{1, "s"};
  for (const Unit& candidate : kDurations) {
    if (to - from >= 2 * candidate.size) {
      unit = candidate;
      break;
    }
  }
  const double range = (to - from) / unit.size;
  double step = RoundStep(range, wanted);
  const auto round = std::ranges::lower_bound(kSteps, 0.7 * range / wanted);
  if (unit.size > 1 && round != kSteps.end()) step = *round;
  AxisTicks made{.ticks = {}, .unit = unit.name};
  for (const double value : Multiples(from / unit.size, to / unit.size, step)) {
    made.ticks.push_back({value * unit.size, fmt::format("{:.12g}", value)});
  }
  return made;
}

std::vector<Tick> LogTicks(double from, double to, int wanted) {
  const double decades = std::log10(to / from);
  std::vector<double> factors = {1};
  if (decades <= 0.5 * wanted) factors = {1, 2, 5};
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / wanted)));
  std::vector<Tick> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(from))); std::pow(10, power) <= to;
       ++power) {
    if (factors.size() == 1 && power % stride != 0) continue;
    for (const double factor : factors) {
      const double value = factor * std::pow(10, power);
      if (value < from * (1 - 1e-9) || value > to * (1 + 1e-9)) continue;
      ticks.push_back({value, ShortNumber(value)});
    }
  }
  // Less than a decade: round steps say more than one power of ten.
  if (ticks.size() < 3) return LinearTicks(from, to, RoundStep(to - from, wanted));
  return ticks;
}

}  // namespace

AxisTicks MakeTicks(Axis axis, double from, double to, int wanted) {
  if (axis == Axis::kTime) return TimeTicks(from, to, wanted);
  if (axis == Axis::kLog) return {.ticks = LogTicks(from, to, wanted)};
  return {.ticks = LinearTicks(from, to, RoundStep(to - from, wanted))};
}

std::string ShortNumber(double value) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return fmt::format("{:.3g}", value);
  for (const Unit& unit : kThousands) {
    // Numbers up to 9,999 are short as they are. What rounds up to 1000k is 1M.
    if (size >= (unit.size > 1e3 ? 0.9995 : 9.9995) * unit.size) {
      return fmt::format("{:.3g}{}", value / unit.size, unit.name);
    }
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace hogbatch::report
