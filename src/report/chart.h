// Charts as inline SVG. Colours and fonts come from the style of the page; SvgFile makes a file
// that stands alone.
//
// Values that are not finite, or not positive on a logarithmic axis, are left out: a line is
// interrupted there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hogbatch::report {

enum class Axis : std::uint8_t {
  kLinear,
  kLog,
  kTime,  // linear, in seconds; labelled in seconds, minutes, hours or days
};

enum class Stroke : std::uint8_t { kSolid, kDashed, kFaint };  // kFaint: behind the others

struct Series {
  std::string name;  // empty: not in the legend
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> low = {};  // a band around y; empty: none
  std::vector<double> high = {};
  std::optional<int> colour = {};  // of the palette; if not given, the place in the chart
  Stroke stroke = Stroke::kSolid;
  std::string hover = {};  // what a reader sees under the pointer if there is no name
};

// How a line gets from one point to the next.
// kStep: y holds until the next point. kPoints: it does not, there are points only.
enum class Line : std::uint8_t { kStraight, kStep, kPoints };

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  Axis x_axis = Axis::kLinear;
  Axis y_axis = Axis::kLinear;
  std::vector<Series> series;
  Line line = Line::kStraight;
  std::optional<double> y_from = {};  // bounds of the axis; if not given, those of the data
  std::optional<double> y_to = {};
  std::vector<std::string> x_names = {};  // of x = 0, 1, …; empty: x are numbers
};
std::string Svg(const LineChart& chart);

struct BarSeries {
  std::string name;              // empty: not in the legend
  std::vector<double> values;    // one for each category
  std::vector<double> low = {};  // whiskers; empty: none
  std::vector<double> high = {};
  std::optional<int> colour = {};
};

enum class Bars : std::uint8_t {
  kUpright,  // a histogram: short names of categories
  kFlat,     // names of any length, and the value beside each bar
};

// One group of bars for each category, and in it one bar for each series. Bars begin at 0.
struct BarChart {
  std::string title;
  std::string category_label;
  std::string value_label;
  std::vector<std::string> categories;
  std::vector<BarSeries> series;
  Bars bars = Bars::kUpright;
};
std::string Svg(const BarChart& chart);

// How much of the time from `begin` to `end` something was busy: 0 to 1.
struct Span {
  double begin = 0;
  double end = 0;
  double share = 0;
};
struct Lane {
  std::string name;
  std::vector<Span> spans;  // in order of time
};
// Lanes below each other over one time axis in seconds. Where scripts run, a reader can zoom in.
struct Timeline {
  std::string title;
  std::vector<Lane> lanes;
  int colour = 0;
};
std::string Svg(const Timeline& timeline);

// The SVG of a chart as a file of its own, for documents that show pictures.
std::string SvgFile(std::string_view svg);

}  // namespace hogbatch::report
