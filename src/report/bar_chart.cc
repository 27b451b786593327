#include <fmt/format.h>

#include <algorithm>

#include "report/chart.h"
#include "report/html.h"
#include "report/svg.h"

namespace hogbatch::report {
namespace {

constexpr double kBarHeight = 16;

double At(const std::vector<double>& values, std::size_t i) {
  return i < values.size() ? values[i] : std::numeric_limits<double>::quiet_NaN();
}

std::string ColourOf(const BarChart& chart, std::size_t series) {
  return ColourClass(chart.series[series].colour.value_or(static_cast<int>(series)),
                     Stroke::kSolid);
}

Bounds ValueBounds(const BarChart& chart) {
  Bounds bounds{0, 0};
  for (const BarSeries& series : chart.series) {
    for (const auto* values : {&series.values, &series.low, &series.high}) {
      for (const double value : *values) bounds.Include(value);
    }
  }
  if (bounds.low == bounds.high) return {0, 1};
  return bounds;
}

std::string TitleOf(const BarChart& chart, std::size_t series, std::size_t category) {
  const BarSeries& bars = chart.series[series];
  return fmt::format(
      "<title>{}</title>",
      Escape(fmt::format("{}{}{}: {}", bars.name, bars.name.empty() ? "" : ", ",
                         chart.categories[category], ShortNumber(At(bars.values, category)))));
}

std::string Rectangle(double x, double y, double width, double height, std::string_view colour,
                      std::string_view title) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"bar {}\">{}</rect>", Number(x),
      Number(y), Number(std::max(width, 0.0)), Number(std::max(height, 0.0)), colour, title);
}

// The title and the legend, and how far down they reach.
std::string Head(const BarChart& chart, double& bottom) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (!chart.series[i].name.empty())
      entries.push_back({chart.series[i].name, ColourOf(chart, i)});
  }
  double legend_height = 0;
  std::string svg = Text(0, 16, "title", Fitted(chart.title, kChartWidth * 0.95));
  svg += Legend(entries, kChartWidth, 36, legend_height);
  bottom = 36 + legend_height;
  return svg;
}

std::string Upright(const BarChart& chart) {
  double top = 0;
  std::string svg = Head(chart, top);
  Bounds bounds = ValueBounds(chart);
  bounds.high += 0.04 * (bounds.high - bounds.low);
  const AxisTicks ticks = MakeTicks(Axis::kLinear, bounds.low, bounds.high, 5);
  const Plot plot{.left = std::max(LabelWidth(ticks) + 8, 24.0),
                  .right = kChartWidth - 4,
                  .top = top + 16,
                  .bottom = top + 16 + kPlotHeight};
  const Scale y(Axis::kLinear, bounds, plot.bottom, plot.top);
  svg += YAxis(plot, y, ticks, chart.value_label);
  const double group = (plot.right - plot.left) /
                       static_cast<double>(std::max<std::size_t>(chart.categories.size(), 1));
  const double bar =
      0.82 * group / static_cast<double>(std::max<std::size_t>(chart.series.size(), 1));
  double free_from = -1e9;
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    const double left = plot.left + group * (static_cast<double>(c) + 0.09);
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double value = At(chart.series[s].values, c);
      if (!y.knows(value)) continue;
      const double x = left + bar * static_cast<double>(s);
      const double from = y(std::max(value, 0.0));
      svg += Rectangle(x, from, bar - 1, y(std::min(value, 0.0)) - from, ColourOf(chart, s),
                       TitleOf(chart, s, c));
      const double low = At(chart.series[s].low, c), high = At(chart.series[s].high, c);
      if (y.knows(low) && y.knows(high)) {
        svg += fmt::format("<path class=\"whisker\" d=\"M{} {}V{}\"/>", Number(x + bar / 2),
                           Number(y(low)), Number(y(high)));
      }
    }
    // Long names at the edges move inwards.
    const double half = std::min(TextWidth(chart.categories[c]), kChartWidth) / 2;
    const double middle =
        std::clamp(plot.left + group * (static_cast<double>(c) + 0.5), half, kChartWidth - half);
    if (middle - half < free_from) continue;
    free_from = middle + half + 6;
    svg += Text(middle, plot.bottom + 17, "tick middle", chart.categories[c]);
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>", Number(plot.left), Number(y(0)),
                     Number(plot.right));
  svg += Text(plot.right, plot.bottom + 35, "label end", chart.category_label);
  return SvgElement("chart bars", kChartWidth, plot.bottom + 42, chart.title, svg);
}

// The name of a category stands above its bars, so that it may be long.
std::string Flat(const BarChart& chart) {
  constexpr double kValueWidth = 62;
  double y = 0;
  std::string svg = Head(chart, y);
  if (!chart.value_label.empty()) svg += Text(0, y + 4, "label", chart.value_label);
  y += chart.value_label.empty() ? 0 : kLineHeight;
  const Scale x(Axis::kLinear, ValueBounds(chart), 0, kChartWidth - kValueWidth);
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    svg += Text(0, y + 8, "name", Fitted(chart.categories[c], kChartWidth));
    y += 15;
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const BarSeries& bars = chart.series[s];
      const double value = At(bars.values, c);
      if (!x.knows(value)) continue;
      const double from = x(std::min(value, 0.0));
      double end = x(std::max(value, 0.0));
      svg +=
          Rectangle(from, y, end - from, kBarHeight - 3, ColourOf(chart, s), TitleOf(chart, s, c));
      const double low = At(bars.low, c), high = At(bars.high, c);
      if (x.knows(low) && x.knows(high)) {
        svg += fmt::format("<path class=\"whisker\" d=\"M{} {}H{}\"/>", Number(x(low)),
                           Number(y + (kBarHeight - 3) / 2), Number(x(high)));
        end = std::max(end, x(high));
      }
      svg += Text(end + 5, y + 11, "value", ShortNumber(value));
      y += kBarHeight;
    }
    y += 9;
  }
  return SvgElement("chart bars", kChartWidth, y, chart.title, svg);
}

}  // namespace

std::string Svg(const BarChart& chart) {
  return chart.bars == Bars::kFlat ? Flat(chart) : Upright(chart);
}

}  // namespace hogbatch::report
