#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart.h"
#include "report/html.h"
#include "report/svg.h"

namespace hogbatch::report {
namespace {

constexpr double kTimelineWidth = 940;
constexpr double kMostNameWidth = 150;
constexpr std::size_t kMostSpans = 40000;  // of all lanes together, and
constexpr std::size_t kMostInLane = 1500;  // of each; more are joined, since no screen shows them

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
std::vector<Span> Joined(const std::vector<Span>& spans, std::size_t most) {
  const std::size_t together = (spans.size() + most - 1) / most;
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

// One area a lane: as many elements as spans would make a page slow.
std::string DrawLane(const Lane& lane, const Scale& x, double top, double height, int colour,
                     std::size_t most_spans) {
  std::string path, busy;  // busy: "end:percent" of each span, for the value under the pointer
  double busy_seconds = 0, seconds = 0, ended = 0;
  const double bottom = top + height;
  for (const Span& span : Joined(lane.spans, most_spans)) {
    if (!std::isfinite(span.share) || !(span.end > span.begin)) continue;
    const double share = std::clamp(span.share, 0.0, 1.0);
    const std::string begin = Number(x(span.begin));
    if (path.empty()) path = fmt::format("M{} {}", begin, Number(bottom));
    if (span.begin > ended) path += fmt::format("V{}H{}", Number(bottom), begin);
    path += fmt::format("V{}H{}", Number(bottom - height * share), Number(x(span.end)));
    ended = span.end;
    busy += fmt::format("{}{:.6g}:{:.0f}", busy.empty() ? "" : ",", span.end, 100 * share);
    busy_seconds += share * (span.end - span.begin);
    seconds += span.end - span.begin;
  }
  if (!path.empty()) path += fmt::format("V{}Z", Number(bottom));
  const std::string title =
      fmt::format("{}: {:.0f} % busy", lane.name, seconds > 0 ? 100 * busy_seconds / seconds : 0);
  return fmt::format(
      "<g class=\"row\" data-name=\"{}\" data-busy=\"{}\"><title>{}</title>"
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"lane\"/>"
      "<path class=\"bar c{}\" d=\"{}\"/></g>",
      Escape(lane.name), busy, Escape(title), Number(x(x.values().low)), Number(top),
      Number(x(x.values().high) - x(x.values().low)), Number(height), colour % kColours, path);
}

}  // namespace

std::string Svg(const Timeline& timeline) {
  const std::size_t count = std::max<std::size_t>(timeline.lanes.size(), 1);
  const double lane_height = count > 24 ? 10 : 22;
  const double gap = count > 24 ? 4 : 6;
  const std::size_t most_spans = std::clamp<std::size_t>(kMostSpans / count, 1, kMostInLane);
  double name_width = 0;
  for (const Lane& lane : timeline.lanes) name_width = std::max(name_width, TextWidth(lane.name));
  name_width = std::min(1.2 * name_width, kMostNameWidth);  // a phone shows larger letters here

  Plot plot{.left = name_width + 10, .right = kTimelineWidth - kMargin, .top = 32, .bottom = 0};
  plot.bottom = plot.top + static_cast<double>(timeline.lanes.size()) * (lane_height + gap);
  const Scale x(Axis::kTime, TimeBounds(timeline), plot.left, plot.right);
  std::string svg = Text(0, 16, "title", timeline.title);
  std::string lanes;
  double y = plot.top;
  for (const Lane& lane : timeline.lanes) {
    svg += Text(plot.left - 8, y + lane_height / 2 + 4, "tick end", Fitted(lane.name, name_width));
    lanes += DrawLane(lane, x, y, lane_height, timeline.colour, most_spans);
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
  return fmt::format("<div class=\"wide\">{}</div>",
                     SvgElement("chart timeline", kTimelineWidth, plot.bottom + 42, timeline.title,
                                svg, attributes));
}

}  // namespace hogbatch::report
