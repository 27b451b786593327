// What all charts are made of: scales, axes, legends. Sizes are in the units of the viewBox, of
// which a phone shows about three quarters of a pixel each.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "report/chart.h"
#include "report/ticks.h"

namespace hogbatch::report {

inline constexpr int kColours = 6;  // of the palette; later ones repeat them, dashed
inline constexpr double kLineHeight = 18;
inline constexpr double kChartWidth = 460;
inline constexpr double kPlotHeight = 200;
inline constexpr double kMargin = 12;  // to the right of a plot
// What is larger, or nearer to 0 on a logarithmic axis, is as good as infinite and not drawn.
// Ranges of what is drawn never overflow.
inline constexpr double kLargest = 1e100;

// Grows over numbers that can be drawn.
struct Bounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool empty() const { return low > high; }
  void Include(double value);
};

// From values to places on one axis.
class Scale {
 public:
  Scale(Axis axis, Bounds values, double first, double last);

  // Whether the value has a place; it may lie outside the bounds.
  bool knows(double value) const;
  double operator()(double value) const;
  const Bounds& values() const { return values_; }
  Axis axis() const { return axis_; }

 private:
  double Position(double value) const;  // 0 at the first bound, 1 at the last

  Axis axis_;
  Bounds values_;
  double first_;
  double last_;
};

// Bounds that leave some air, and never an empty range.
Bounds Padded(Axis axis, Bounds values);

// Where the data goes.
struct Plot {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
};

std::string Number(double value);  // a coordinate: two decimals at most, never NaN
// `css` is the class, such as "title".
std::string Text(double x, double y, std::string_view css, std::string_view text);
// About how wide a text is; none is wider by much.
double TextWidth(std::string_view text);
// At most `width` wide, with an ellipsis where it was cut.
std::string Fitted(std::string_view text, double width);
// "c2", or "c2 dashed" beyond the palette.
std::string ColourClass(int colour, Stroke stroke);

struct LegendEntry {
  std::string name;
  std::string colour;  // a class
};
// Lines of at most `width`, the first with its middle at y = `top`. Sets `height` to what it takes.
std::string Legend(const std::vector<LegendEntry>& entries, double width, double top,
                   double& height);

// Ticks and labels of the axes around a plot.
std::string XAxis(const Plot& plot, const Scale& scale, const AxisTicks& ticks,
                  std::string_view label);
std::string YAxis(const Plot& plot, const Scale& scale, const AxisTicks& ticks,
                  std::string_view label);
// The width of the widest label.
double LabelWidth(const AxisTicks& ticks);

// Opens and closes the element; `kind` is a class and `attributes` are markup.
std::string SvgElement(std::string_view kind, double width, double height, std::string_view title,
                       std::string_view content, std::string_view attributes = {});

}  // namespace hogbatch::report
