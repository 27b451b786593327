#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart.h"
#include "report/html.h"
#include "report/svg.h"

namespace hogbatch::report {
namespace {

constexpr double kWidth = 940;
constexpr double kMostNameWidth = 150;
constexpr std::size_t kMostSpans = 1500;  // of a lane; more are joined, since no screen shows them

Bounds TimeBounds(const Timeline& timeline) {
  Bounds bounds;
  for (const Lane& lane : timeline.lanes) {
    for (const Span& span : lane.spans) {
      bounds.Include(span.begin);
      bounds.Include(span.end);
    }
  }
  if (bounds.empty() || bounds.low == bounds.high) return Padded(Axis::kTime, bounds);
  return bounds;
}

// Neighbours become one span with their mean share.
std::vector<Span> Joined(const std::vector<Span>& spans) {
  const std::size_t together = (spans.size() + kMostSpans - 1) / kMostSpans;
  if (together <= 1) return spans;
  std::vector<Span> joined;
  for (std::size_t first = 0; first < spans.size(); first += together) {
    const std::size_t end = std::min(first + together, spans.size());
    double busy = 0, length = 0;
    for (std::size_t i = first; i < end; ++i) {
      busy += spans[i].share * (spans[i].end - spans[i].begin);
      length += spans[i].end - spans[i].begin;
    }
    joined.push_back({spans[first].begin, spans[end - 1].end, length > 0 ? busy / length : 0});
  }
  return joined;
}

std::string TitleOf(const Lane& lane, const Span& span) {
  return Escape(fmt::format("{}: {:.0f} % busy from {:.4g} to {:.4g} s", lane.name,
                            100 * span.share, span.begin, span.end));
}

std::string DrawLane(const Lane& lane, const Scale& x, double top, double height, int colour) {
  std::string svg =
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"lane\"/>",
                  Number(x(x.values().low)), Number(top),
                  Number(x(x.values().high) - x(x.values().low)), Number(height));
  for (const Span& span : Joined(lane.spans)) {
    if (!std::isfinite(span.share) || !(span.end > span.begin)) continue;
    const double busy = height * std::clamp(span.share, 0.0, 1.0);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"bar "
        "c{}\"><title>{}</title></rect>",
        Number(x(span.begin)), Number(top + height - busy), Number(x(span.end) - x(span.begin)),
        Number(busy), colour % kColours, TitleOf(lane, span));
  }
  return svg;
}

}  // namespace

std::string Svg(const Timeline& timeline) {
  const double lane_height = timeline.lanes.size() > 24 ? 9 : 22;
  const double gap = timeline.lanes.size() > 24 ? 3 : 6;
  double name_width = 0;
  for (const Lane& lane : timeline.lanes) name_width = std::max(name_width, TextWidth(lane.name));
  name_width = std::min(1.2 * name_width, kMostNameWidth);  // a phone shows larger letters here

  Plot plot{.left = name_width + 10, .right = kWidth - kMargin, .top = 32, .bottom = 0};
  plot.bottom = plot.top + static_cast<double>(timeline.lanes.size()) * (lane_height + gap);
  const Scale x(Axis::kTime, TimeBounds(timeline), plot.left, plot.right);
  std::string svg = Text(0, 16, "title", timeline.title);
  std::string lanes;
  double y = plot.top;
  for (const Lane& lane : timeline.lanes) {
    svg += Text(plot.left - 8, y + lane_height / 2 + 4, "tick end", Fitted(lane.name, name_width));
    lanes += DrawLane(lane, x, y, lane_height, timeline.colour);
    y += lane_height + gap;
  }
  // The script zooms by changing the viewBox of this picture in the picture, and writes the ticks
  // anew.
  svg += fmt::format(
      "<svg class=\"zoomed\" x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
      "viewBox=\"{0} {1} {2} {3}\" preserveAspectRatio=\"none\">{4}</svg>",
      Number(plot.left), Number(plot.top), Number(plot.right - plot.left),
      Number(plot.bottom - plot.top), lanes);
  svg += fmt::format("<g class=\"ticks\">{}</g>",
                     XAxis(plot, x, MakeTicks(Axis::kTime, x.values().low, x.values().high, 10),
                           "time since training began"));
  const std::string attributes =
      fmt::format("data-from=\"{}\" data-to=\"{}\"", x.values().low, x.values().high);
  return fmt::format(
      "<div class=\"wide\">{}</div>",
      SvgElement("chart timeline", kWidth, plot.bottom + 42, timeline.title, svg, attributes));
}

}  // namespace hogbatch::report
