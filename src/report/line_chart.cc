#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/chart.h"
#include "report/html.h"
#include "report/svg.h"

namespace hogbatch::report {
namespace {

constexpr std::size_t kMarked = 40;  // points that get a mark each; more would hide the line
constexpr int kColumns = 300;        // of a line with more points than a reader can see

std::size_t PointsOf(const Series& series) { return std::min(series.x.size(), series.y.size()); }

bool HasBand(const Series& series) {
  return series.low.size() >= PointsOf(series) && series.high.size() >= PointsOf(series) &&
         PointsOf(series) > 0;
}

Bounds BoundsOfX(const LineChart& chart) {
  Bounds bounds;
  if (!chart.x_names.empty()) {
    return {.low = -0.5, .high = static_cast<double>(chart.x_names.size()) - 0.5};
  }
  const Scale scale(chart.x_axis, {}, 0, 0);
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i < PointsOf(series); ++i) {
      if (scale.knows(series.x[i]) && std::isfinite(series.y[i])) bounds.Include(series.x[i]);
    }
  }
  // Time and epochs begin at 0, and a line that begins there should be seen to.
  if (chart.x_axis != Axis::kLog && bounds.low > 0 && bounds.low < 0.5 * bounds.high)
    bounds.low = 0;
  if (bounds.empty() || bounds.low == bounds.high) return Padded(chart.x_axis, bounds);
  return bounds;
}

Bounds BoundsOfY(const LineChart& chart) {
  Bounds bounds;
  const Scale scale(chart.y_axis, {}, 0, 0);
  const auto include = [&](const std::vector<double>& values) {
    for (const double value : values) {
      if (scale.knows(value)) bounds.Include(value);
    }
  };
  for (const Series& series : chart.series) {
    include(series.y);
    include(series.low);
    include(series.high);
  }
  bounds = Padded(chart.y_axis, bounds);
  if (chart.y_from) bounds.low = *chart.y_from;
  if (chart.y_to) bounds.high = *chart.y_to;
  if (bounds.high <= bounds.low) bounds.high = bounds.low + 1;
  return bounds;
}

// The points to draw, by index. Of very many in one column the lowest and the highest are enough.
std::vector<std::size_t> DrawnPoints(const Series& series, const Scale& x, const Plot& plot) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < PointsOf(series); ++i) {
    if (x.knows(series.x[i])) all.push_back(i);
  }
  if (all.size() <= 3 * kColumns) return all;
  std::map<int, std::pair<std::size_t, std::size_t>> columns;
  for (const std::size_t i : all) {
    if (!std::isfinite(series.y[i])) continue;
    const double place = (x(series.x[i]) - plot.left) / (plot.right - plot.left);
    auto [column, added] = columns.try_emplace(static_cast<int>(place * kColumns), i, i);
    if (series.y[i] < series.y[column->second.first]) column->second.first = i;
    if (series.y[i] > series.y[column->second.second]) column->second.second = i;
  }
  std::vector<std::size_t> drawn;
  for (const auto& [place, extremes] : columns) {
    drawn.push_back(std::min(extremes.first, extremes.second));
    if (extremes.first != extremes.second) {
      drawn.push_back(std::max(extremes.first, extremes.second));
    }
  }
  return drawn;
}

// One series in the coordinates of a plot.
class DrawnSeries {
 public:
  DrawnSeries(const Series& series, const Scale& x, const Scale& y, const Plot& plot, Line line)
      : series_(series), x_(x), y_(y), line_(line), points_(DrawnPoints(series, x, plot)) {}

  std::string Band() const {
    std::string there, back;
    for (const std::size_t i : points_) {
      if (!y_.knows(series_.low[i]) || !y_.knows(series_.high[i])) continue;
      const std::string at = Number(x_(series_.x[i]));
      there += fmt::format("{}{} {}", there.empty() ? "M" : "L", at, Number(y_(series_.high[i])));
      back.insert(0, fmt::format("L{} {}", at, Number(y_(series_.low[i]))));
    }
    return there.empty() ? "" : there + back + "Z";
  }

  std::string Path() const {
    std::string path;
    bool drawing = false;
    for (const std::size_t i : points_) {
      if (!y_.knows(series_.y[i])) {
        drawing = false;
        continue;
      }
      const std::string at = Number(x_(series_.x[i]));
      const std::string height = Number(y_(series_.y[i]));
      if (!drawing) {
        path += fmt::format("M{} {}", at, height);
      } else if (line_ == Line::kPoints) {
        path += fmt::format("M{} {}", at, height);
      } else if (line_ == Line::kStep) {
        path += fmt::format("H{}V{}", at, height);
      } else {
        path += fmt::format("L{} {}", at, height);
      }
      drawing = true;
    }
    return path;
  }

  std::string Marks(std::string_view colour) const {
    const bool is_behind = series_.stroke != Stroke::kSolid && points_.size() > 1;
    const bool hides_line = points_.size() > kMarked || is_behind;
    if (line_ == Line::kStep || (line_ != Line::kPoints && hides_line)) return "";
    std::string marks;
    for (const std::size_t i : points_) {
      if (!y_.knows(series_.y[i])) continue;
      marks += fmt::format(
          "<circle cx=\"{}\" cy=\"{}\" r=\"2.6\" class=\"mark {}\"><title>{}</title></circle>",
          Number(x_(series_.x[i])), Number(y_(series_.y[i])), colour,
          Escape(fmt::format("{}: {} at {}", series_.name, ShortNumber(series_.y[i]),
                             ShortNumber(series_.x[i]))));
    }
    return marks;
  }

  // Place and value of each point for the script that shows what is under the pointer.
  std::string Values() const {
    std::string places, values;
    for (const std::size_t i : points_) {
      if (!y_.knows(series_.y[i])) continue;
      places += fmt::format("{}{} {} {}", places.empty() ? "" : ",", Number(x_(series_.x[i])),
                            Number(y_(series_.y[i])), ShortNumber(series_.x[i]));
      values += fmt::format("{}{}", values.empty() ? "" : ",", ShortNumber(series_.y[i]));
    }
    return fmt::format("data-name=\"{}\" data-at=\"{}\" data-y=\"{}\"",
                       Escape(series_.name.empty() ? series_.hover : series_.name), places, values);
  }

 private:
  const Series& series_;
  const Scale& x_;
  const Scale& y_;
  Line line_;
  std::vector<std::size_t> points_;
};

AxisTicks TicksOfX(const LineChart& chart, const Bounds& bounds) {
  if (chart.x_names.empty()) return MakeTicks(chart.x_axis, bounds.low, bounds.high, 7);
  AxisTicks ticks;
  const double width = kChartWidth / static_cast<double>(chart.x_names.size());
  for (std::size_t i = 0; i < chart.x_names.size(); ++i) {
    ticks.ticks.push_back(
        {static_cast<double>(i), Fitted(chart.x_names[i], std::max(40.0, 0.7 * width))});
  }
  return ticks;
}

bool HasData(const LineChart& chart, const Scale& x, const Scale& y) {
  return std::ranges::any_of(chart.series, [&](const Series& series) {
    for (std::size_t i = 0; i < PointsOf(series); ++i) {
      if (x.knows(series.x[i]) && y.knows(series.y[i])) return true;
    }
    return false;
  });
}

std::string Draw(const LineChart& chart, const Plot& plot, const Scale& x, const Scale& y) {
  if (!HasData(chart, x, y)) {
    return Text((plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2, "label middle",
                "no data");
  }
  std::string bands, lines;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const std::string colour =
        ColourClass(series.colour.value_or(static_cast<int>(i)), series.stroke);
    const DrawnSeries drawn(series, x, y, plot, chart.line);
    if (HasBand(series)) {
      bands += fmt::format("<path class=\"band {}\" d=\"{}\"/>", colour, drawn.Band());
    }
    lines += fmt::format("<path class=\"line {}\" d=\"{}\" {}/>{}", colour, drawn.Path(),
                         drawn.Values(), drawn.Marks(colour));
  }
  // A picture in the picture cuts off what lies outside.
  return fmt::format(
      "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">{4}</svg>",
      Number(plot.left - 4), Number(plot.top - 4), Number(plot.right - plot.left + 8),
      Number(plot.bottom - plot.top + 8), bands + lines);
}

}  // namespace

std::string Svg(const LineChart& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const int colour = series.colour.value_or(static_cast<int>(i));
    if (!series.name.empty()) entries.push_back({series.name, ColourClass(colour, series.stroke)});
  }
  double legend_height = 0;
  std::string svg = Text(0, 16, "title", Fitted(chart.title, kChartWidth * 0.95));
  svg += Legend(entries, kChartWidth, 36, legend_height);

  const double top = 36 + legend_height + 20;
  Plot plot{.left = 0, .right = kChartWidth - kMargin, .top = top, .bottom = top + kPlotHeight};
  const Bounds y_bounds = BoundsOfY(chart);
  const AxisTicks y_ticks = MakeTicks(chart.y_axis, y_bounds.low, y_bounds.high, 6);
  plot.left = std::max(LabelWidth(y_ticks) + 8, 24.0);
  const Scale y(chart.y_axis, y_bounds, plot.bottom, plot.top);
  svg += YAxis(plot, y, y_ticks, chart.y_label);

  const Bounds x_bounds = BoundsOfX(chart);
  const Scale x(chart.x_axis, x_bounds, plot.left, plot.right);
  svg += XAxis(plot, x, TicksOfX(chart, x_bounds), chart.x_label);
  svg += Draw(chart, plot, x, y);
  const std::string attributes =
      fmt::format("data-x-label=\"{}\" data-plot=\"{} {} {} {}\"", Escape(chart.x_label),
                  Number(plot.left), Number(plot.top), Number(plot.right), Number(plot.bottom));
  return SvgElement("chart lines", kChartWidth, plot.bottom + 42, chart.title, svg, attributes);
}

}  // namespace hogbatch::report
