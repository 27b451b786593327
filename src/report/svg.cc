#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/guard/printable.h"
#include "report/html.h"

namespace hogbatch::report {
namespace {

constexpr double kCharacter = 8.6;  // the width of a digit in a wide font, as large as on a phone

}  // namespace

void Bounds::Include(double value) {
  if (!(std::abs(value) <= kLargest)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Scale::Scale(Axis axis, Bounds values, double first, double last)
    : axis_(axis), values_(values), first_(first), last_(last) {}

bool Scale::knows(double value) const {
  return std::abs(value) <= kLargest && (axis_ != Axis::kLog || value >= 1 / kLargest);
}

double Scale::Position(double value) const {
  if (axis_ == Axis::kLog)
    return std::log(value / values_.low) / std::log(values_.high / values_.low);
  return (value - values_.low) / (values_.high - values_.low);
}

double Scale::operator()(double value) const {
  // Far outside is as good as farther outside, and keeps coordinates short.
  const double position = std::clamp(Position(value), -2.0, 3.0);
  return first_ + position * (last_ - first_);
}

Bounds Padded(Axis axis, Bounds values) {
  if (values.empty()) return axis == Axis::kLog ? Bounds{1, 10} : Bounds{0, 1};
  if (axis == Axis::kLog) {
    const double air = std::max(std::pow(values.high / values.low, 0.04), 1.02);
    return {values.low / air, values.high * air};
  }
  double air = 0.04 * (values.high - values.low);
  if (air <= 1e-9 * std::abs(values.high)) air = values.high == 0 ? 1 : 0.1 * std::abs(values.high);
  return {values.low - air, values.high + air};
}

std::string Number(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string Text(double x, double y, std::string_view css, std::string_view text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>", Number(x), Number(y), css,
                     Escape(text));
}

double TextWidth(std::string_view text) {
  constexpr std::string_view kWide = "MWm%";
  double characters = 0;
  while (!text.empty()) {
    characters += kWide.find(text[0]) == std::string_view::npos ? 1 : 1.6;
    text.remove_prefix(FirstCharacters(text, 1).size());
  }
  return kCharacter * characters;
}

std::string Fitted(std::string_view text, double width) {
  if (TextWidth(text) <= width) return std::string(text);
  std::size_t characters = 0;
  for (double used = 2 * kCharacter; used <= width; used += kCharacter) ++characters;
  return fmt::format("{}…", FirstCharacters(text, characters));
}

std::string ColourClass(int colour, Stroke stroke) {
  const bool dashed = (colour / kColours) % 2 == 1 || stroke == Stroke::kDashed;
  const char* const faint = stroke == Stroke::kFaint ? " faint" : "";
  return fmt::format("c{}{}{}", colour % kColours, dashed ? " dashed" : "", faint);
}

std::string Legend(const std::vector<LegendEntry>& entries, double width, double top,
                   double& height) {
  constexpr double kKey = 22;
  constexpr double kGap = 14;
  std::string svg;
  double x = 0;
  double y = top;
  for (const LegendEntry& entry : entries) {
    const std::string name = Fitted(entry.name, width - kKey);
    const double needed = kKey + TextWidth(name);
    if (x > 0 && x + needed > width) {
      x = 0;
      y += kLineHeight;
    }
    svg += fmt::format(
        "<g><title>{}</title><line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" class=\"key "
        "{}\"/>{}</g>",
        Escape(entry.name), Number(x), Number(x + kKey - 6), Number(y), Number(y), entry.colour,
        Text(x + kKey, y + 4, "name", name));
    x += needed + kGap;
  }
  height = entries.empty() ? 0 : y - top + kLineHeight;
  return svg;
}

double LabelWidth(const AxisTicks& ticks) {
  double width = 0;
  for (const Tick& tick : ticks.ticks) width = std::max(width, TextWidth(tick.label));
  return width;
}

std::string XAxis(const Plot& plot, const Scale& scale, const AxisTicks& ticks,
                  std::string_view label) {
  std::string svg = fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>", Number(plot.left),
                                Number(plot.bottom), Number(plot.right));
  double free_from = -1e9;  // labels keep clear of each other
  for (const Tick& tick : ticks.ticks) {
    const double x = scale(tick.value);
    svg += fmt::format("<path class=\"axis\" d=\"M{} {}v4\"/>", Number(x), Number(plot.bottom));
    const double half = 0.6 * TextWidth(tick.label);  // timelines have larger letters on a phone
    const double middle = std::min(x, plot.right + kMargin - half);  // the last one stays inside
    if (middle - half < free_from) continue;
    free_from = middle + half + 6;
    svg += Text(middle, plot.bottom + 17, "tick middle", tick.label);
  }
  const std::string full =
      ticks.unit.empty() ? std::string(label) : fmt::format("{} ({})", label, ticks.unit);
  return svg + Text(plot.right, plot.bottom + 35, "label end", full);
}

std::string YAxis(const Plot& plot, const Scale& scale, const AxisTicks& ticks,
                  std::string_view label) {
  std::string svg = Text(0, plot.top - 10, "label", label);
  for (const Tick& tick : ticks.ticks) {
    const double y = scale(tick.value);
    svg += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>", Number(plot.left), Number(y),
                       Number(plot.right));
    svg += Text(plot.left - 6, y + 4, "tick end", tick.label);
  }
  return svg;
}

std::string SvgElement(std::string_view kind, double width, double height, std::string_view title,
                       std::string_view content, std::string_view attributes) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\" {}>{}</svg>",
      kind, Number(width), Number(height), Escape(title), attributes, content);
}

}  // namespace hogbatch::report
