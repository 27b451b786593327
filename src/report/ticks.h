// Where an axis has its ticks, and how numbers are written beside them.
#pragma once

#include <string>
#include <vector>

#include "report/chart.h"

namespace hogbatch::report {

struct Tick {
  double value = 0;
  std::string label;
};

struct AxisTicks {
  std::vector<Tick> ticks;  // within the bounds, in rising order
  std::string unit = {};    // kTime: what the labels count, such as "min"
};

// About `wanted` ticks at round values in [from, to]. The bounds can be drawn (svg.h), from < to,
// and from > 0 on a logarithmic axis.
AxisTicks MakeTicks(Axis axis, double from, double to, int wanted);

// A number for a reader, with at most four digits that count: 0.5301, 12.3k, 4.56M.
std::string ShortNumber(double value);

}  // namespace hogbatch::report
