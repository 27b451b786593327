#include "report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

namespace hogbatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

// The numbers of a chart are coordinates a browser can draw.
void ExpectDrawable(const std::string& svg) {
  const std::regex wrong(" (d|x|y|width|height|cx|cy|viewBox)=\"[^\"]*(nan|inf|e\\+)");
  EXPECT_FALSE(std::regex_search(svg, wrong)) << svg;
}

TEST(LineChart, HoldsTitleLabelsLegendAndValues) {
  const std::string svg =
      Svg(LineChart{.title = "Loss & time",
                    .x_label = "training time",
                    .y_label = "loss",
                    .x_axis = Axis::kTime,
                    .series = {{.name = "<first>", .x = {0, 10, 20}, .y = {3, 2, 1.25}}}});
  EXPECT_THAT(svg, HasSubstr("Loss &amp; time"));
  EXPECT_THAT(svg, HasSubstr("training time (s)"));
  EXPECT_THAT(svg, HasSubstr("&lt;first&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<first>")));
  EXPECT_THAT(svg, HasSubstr("data-y=\"3,2,1.25\""));
  EXPECT_EQ(Count(svg, "<circle"), 3u);
  EXPECT_THAT(svg, HasSubstr("1.25 at 20"));
  ExpectDrawable(svg);
}

TEST(LineChart, IsInterruptedWhereAValueIsMissing) {
  LineChart chart{.series = {{.name = "a", .x = {0, 1, 2, 3, 4}, .y = {1, 2, kNan, 3, kInfinity}}}};
  const std::string svg = Svg(chart);
  EXPECT_THAT(svg, HasSubstr("data-y=\"1,2,3\""));
  const std::regex line("class=\"line c0\" d=\"(M[^M\"]*)(M[^M\"]*)\"");
  EXPECT_TRUE(std::regex_search(svg, line)) << svg;
  ExpectDrawable(svg);
}

TEST(LineChart, LeavesOutWhatALogarithmicAxisCannotShow) {
  const std::string svg = Svg(LineChart{
      .y_axis = Axis::kLog, .series = {{.name = "a", .x = {0, 1, 2, 3}, .y = {0, -1, 10, 1000}}}});
  EXPECT_THAT(svg, HasSubstr("data-y=\"10,1000\""));
  ExpectDrawable(svg);
}

TEST(LineChart, DrawsWhateverThereIs) {
  for (const Axis axis : {Axis::kLinear, Axis::kLog, Axis::kTime}) {
    ExpectDrawable(Svg(LineChart{.x_axis = axis, .y_axis = axis, .series = {}}));
    for (const std::vector<double>& y : {std::vector<double>{},
                                         {5},
                                         {5, 5},
                                         {kNan, kNan},
                                         {0, 0},
                                         {-1, -1},
                                         {1e300, 1e-300},
                                         {1e308, -1e308}}) {
      ExpectDrawable(Svg(LineChart{
          .x_axis = axis, .y_axis = axis, .series = {{.name = "a", .x = {1, 2}, .y = y}}}));
      ExpectDrawable(Svg(LineChart{
          .x_axis = axis, .y_axis = axis, .series = {{.name = "a", .x = y, .y = {1, 2}}}}));
    }
  }
  EXPECT_THAT(Svg(LineChart{.series = {}}), HasSubstr("no data"));
  EXPECT_THAT(Svg(LineChart{.series = {{.name = "a", .x = {1}, .y = {kNan}}}}),
              HasSubstr("no data"));
  EXPECT_THAT(Svg(LineChart{.series = {{.name = "a", .x = {1}, .y = {2}}}}),
              Not(HasSubstr("no data")));
}

TEST(LineChart, ThinsOutManyPointsButKeepsTheExtremes) {
  Series series{.name = "a", .x = {}, .y = {}};
  for (int i = 0; i < 100000; ++i) {
    series.x.push_back(i);
    series.y.push_back(std::sin(i * 0.001));
  }
  series.y[54321] = 77;
  series.y[65432] = -88;
  const std::string svg = Svg(LineChart{.series = {series}});
  EXPECT_LT(svg.size(), 60000u);
  EXPECT_THAT(svg, HasSubstr(",77,"));
  EXPECT_THAT(svg, HasSubstr(",-88,"));
}

TEST(LineChart, ShowsSpreadAsABand) {
  const std::string svg = Svg(LineChart{
      .series = {{.name = "a", .x = {0, 1}, .y = {2, 3}, .low = {1, 2}, .high = {3, 9}}}});
  EXPECT_EQ(Count(svg, "class=\"band c0\""), 1u);
  EXPECT_THAT(svg, HasSubstr(">8</text>")) << "the axis covers the band";
}

TEST(LineChart, TellsMoreLinesApartThanThereAreColours) {
  LineChart chart;
  for (int i = 0; i < 9; ++i) {
    chart.series.push_back({.name = std::to_string(i), .x = {0, 1}, .y = {1.0 * i, 2.0 * i}});
  }
  const std::string svg = Svg(chart);
  EXPECT_THAT(svg, HasSubstr("class=\"line c0\""));
  EXPECT_THAT(svg, HasSubstr("class=\"line c0 dashed\""));
}

TEST(LineChart, HasALegendThatWrapsAndNeverCoversTheData) {
  LineChart chart;
  for (int i = 0; i < 7; ++i) {
    chart.series.push_back(
        {.name = std::string(30, 'x') + std::to_string(i), .x = {0, 1}, .y = {0, 1}});
  }
  const std::string svg = Svg(chart);
  double lowest_key = 0;
  const std::regex key("y1=\"([0-9.]+)\" y2=\"[0-9.]+\" class=\"key");
  for (std::sregex_iterator at(svg.begin(), svg.end(), key), end; at != end; ++at) {
    lowest_key = std::max(lowest_key, std::stod((*at)[1]));
  }
  std::smatch plot;
  ASSERT_TRUE(std::regex_search(svg, plot, std::regex("data-plot=\"[0-9.]+ ([0-9.]+)")));
  EXPECT_GT(lowest_key, 100);
  EXPECT_LT(lowest_key + 10, std::stod(plot[1]));
}

TEST(BarChart, HasABarForEveryValueAndWhiskers) {
  for (const Bars bars : {Bars::kUpright, Bars::kFlat}) {
    const std::string svg = Svg(
        BarChart{.title = "t",
                 .category_label = "c",
                 .value_label = "v",
                 .categories = {"<a>", "b"},
                 .series = {{.name = "one", .values = {1, 2.5}, .low = {0.5, 2}, .high = {1.5, 3}},
                            {.name = "two", .values = {kNan, 4}}},
                 .bars = bars});
    EXPECT_EQ(Count(svg, "class=\"bar"), 3u);
    EXPECT_EQ(Count(svg, "class=\"whisker"), 2u);
    EXPECT_THAT(svg, HasSubstr("one, b: 2.5"));
    EXPECT_THAT(svg, HasSubstr("&lt;a&gt;"));
    ExpectDrawable(svg);
    ExpectDrawable(Svg(BarChart{.bars = bars}));
    ExpectDrawable(
        Svg(BarChart{.categories = {"a"}, .series = {{.name = "", .values = {-1}}}, .bars = bars}));
  }
}

TEST(Timeline, HasALaneForEveryWorkerAsHighAsItWasBusy) {
  const std::string svg = Svg(Timeline{
      .title = "run",
      .lanes = {{"cpu.0", {{0, 1, 0.5}, {1, 2, 1}}}, {"<b>", {{0, 1, 0.25}, {1.5, 2, 3}}}}});
  EXPECT_EQ(Count(svg, "class=\"lane\""), 2u);
  EXPECT_THAT(svg, HasSubstr("cpu.0: 75 % busy"));
  EXPECT_THAT(svg, HasSubstr("data-busy=\"1:50,2:100\""));
  EXPECT_THAT(svg, HasSubstr("data-name=\"&lt;b&gt;\" data-busy=\"1:25,2:100\""));
  EXPECT_THAT(svg, HasSubstr("data-from=\"0\" data-to=\"2\""));
  // A lane from 32 to 54: half busy, busy, back down. The one below falls to its ground in the gap.
  const std::string number = "[0-9.]+";
  EXPECT_TRUE(std::regex_search(svg, std::regex("M" + number + " 54V43H" + number + "V32H928V54Z")))
      << svg;
  EXPECT_TRUE(std::regex_search(
      svg, std::regex("M" + number + " 82V76.5H" + number + "V82H" + number + "V60H928V82Z")))
      << svg;
  ExpectDrawable(svg);
  ExpectDrawable(Svg(Timeline{.title = "", .lanes = {}}));
}

TEST(Timeline, JoinsMoreSpansThanAScreenShows) {
  Lane lane{"cpu.0", {}};
  for (int i = 0; i < 50000; ++i) lane.spans.push_back({1.0 * i, i + 1.0, i % 2 ? 1.0 : 0.0});
  EXPECT_LT(Svg(Timeline{.title = "", .lanes = {lane}}).size(), 60000u);
  EXPECT_LT(Svg(Timeline{.title = "", .lanes = std::vector(64, lane)}).size(), 1500000u);
  EXPECT_THAT(Svg(Timeline{.title = "", .lanes = {lane}}), HasSubstr("cpu.0: 50 % busy"));
}

TEST(SvgFile, StandsAlone) {
  for (const std::string& svg :
       {Svg(LineChart{.series = {{.name = "a", .x = {0, 1}, .y = {0, 1}}}}),
        Svg(Timeline{.title = "", .lanes = {{"a", {{0, 1, 1}}}}})}) {
    const std::string file = SvgFile(svg);
    EXPECT_TRUE(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""))
        << file.substr(0, 99);
    EXPECT_TRUE(file.ends_with("</svg>\n"));
    EXPECT_THAT(file, HasSubstr("--c0:"));
    EXPECT_THAT(file, HasSubstr("prefers-color-scheme: dark"));
  }
}

}  // namespace
}  // namespace hogbatch::report
