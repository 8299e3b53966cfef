#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "astra-core/pages/html.h"
#include "astra-core/pages/line_chart.h"
#include "astra-core/pages/scatter_svg.h"
#include "astra-core/pages/scatter_text.h"
#include "astra-core/pages/stacked_bars.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AxisTicksTest, AreRoundAndHoldAllValues) {
  EXPECT_THAT(RoundTicks(3.41, 4.02, 5).values,
              ElementsAre(::testing::DoubleEq(3.4), ::testing::DoubleEq(3.6),
                          ::testing::DoubleEq(3.8), ::testing::DoubleEq(4.0),
                          ::testing::DoubleEq(4.2)));
  EXPECT_EQ(RoundTicks(3.41, 4.02, 5).Text(3.6), "3.6");
  EXPECT_THAT(RoundTicks(0, 100, 4).values, ElementsAre(0, 50, 100));
  EXPECT_EQ(RoundTicks(0, 100, 4).Text(50), "50");
  // One value lies between two ticks.
  const AxisTicks one = RoundTicks(7, 7, 4);
  EXPECT_LT(one.values.front(), 7);
  EXPECT_GT(one.values.back(), 7);

  const AxisTicks log = LogTicks(4, 32);
  EXPECT_THAT(log.values, ElementsAre(2, 5, 10, 20, 50));
  EXPECT_DOUBLE_EQ(log.At(2), 0);
  EXPECT_DOUBLE_EQ(log.At(10), 0.5);  // 10 / 2 = 50 / 10.
  EXPECT_THAT(LogTicks(1, 1).values, ElementsAre(1, 2));
}

TEST(ScatterTextTest, DrawsMarksTheFrontAndOthers) {
  const std::string text =
      ScatterText({.x_name = "iteration s",
                   .y_name = "GiB",
                   .points = {{0, 0, true, "1", ""},
                              {50, 100, false, "12", ""},
                              {100, 50, true, "13", ""},
                              {100, 50, false, "14", ""}}});
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  ASSERT_EQ(lines.size(), size_t{kScatterTextHeight} + 1);  // And the last end.
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), size_t{kScatterTextWidth});
  }
  EXPECT_EQ(lines[0], "GiB");
  // The plane has 70 columns, the first of which is 10.
  EXPECT_EQ(lines[1], "     100 +" + std::string(35, ' ') + ".");
  EXPECT_EQ(lines[7], "      50 +" + std::string(69, ' ') + "*");
  EXPECT_EQ(lines[12], "       0 +1");
  EXPECT_EQ(lines[13], "         +" + std::string(70, '-'));
  EXPECT_TRUE(lines[14].ends_with("iteration s"));
}

TEST(ScatterSvgTest, JoinsTheFrontBySteps) {
  const std::string svg = ScatterSvg({.x_name = "s & more",
                                      .y_name = "GiB",
                                      .points = {{100, 0, true, "2", "second"},
                                                 {0, 100, true, "1", "first"},
                                                 {100, 100, false, "3", "<b>"}},
                                      .limit = ScatterLimit{100, "all of it"}},
                                     "Some \"points\"");
  EXPECT_THAT(svg, HasSubstr("d=\"M80.0 15.0H745.0V385.0\""));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"Some &quot;points&quot;\""));
  EXPECT_THAT(svg, HasSubstr("<title>&lt;b&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(">s &amp; more</text>"));
  EXPECT_THAT(svg, HasSubstr(">all of it</text>"));
  EXPECT_THAT(svg, HasSubstr(">2</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">3</text>")));
}

// The axes are 0 to 10 across 665 units from 80, and 0 to 100 up 370 from 385.
TEST(LineChartTest, DrawsLinesInTheirOrder) {
  const LineChart chart = {
      .x_name = "time s",
      .y_name = "%",
      .lines = {{"a & b", {{0, 0, "", ""}, {10, 100, "m", "<top>"}}},
                {"other", {{5, 50, "", ""}}}},
      .x_from_zero = true,
      .limit = ChartLimit{2, "limit < 3"},
      .has_dots = true};
  const std::string svg = LineChartSvg(chart, "Two lines");
  EXPECT_THAT(svg, HasSubstr("d=\"M80.0 385.0L745.0 15.0\"><title>a &amp; b"));
  EXPECT_THAT(svg, HasSubstr("cx=\"412.5\" cy=\"200.0\""));
  EXPECT_THAT(svg, HasSubstr("<title>&lt;top&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(">m</text>"));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"Two lines\""));
  EXPECT_THAT(svg, HasSubstr("</svg> other</span>"));  // The legend.
  EXPECT_THAT(svg, HasSubstr("class=\"limit\" x1=\"213.0\""));
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"start\">limit &lt; 3</text>"));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray:7 4"));
}

TEST(StackedBarsTest, HaveOneScaleAndWords) {
  const std::string html = StackedBars(
      std::vector<BarPart>{
          {"a", "#111111"}, {"b", "#222222"}, {"never", "#333333"}},
      std::vector<StackedBar>{{"one", {3, 1, 0}, "4 s"},
                              {"two", {2, 0, 0}, "2 s"}},
      "s");
  EXPECT_THAT(html, HasSubstr("aria-label=\"a 3 s, b 1 s\""));
  EXPECT_THAT(html,
              HasSubstr("<span style=\"width:75.000%;background:#111111\">"
                        "</span><span style=\"width:25.000%;"
                        "background:#222222\"></span>"));
  EXPECT_THAT(html, HasSubstr("width:50.000%"));
  EXPECT_THAT(html, Not(HasSubstr("never")));
}

TEST(HtmlTest, TextCannotBecomeMarkup) {
  EXPECT_EQ(HtmlText("<a href='x'>\"&"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;");
  EXPECT_THAT(HtmlTable("", std::vector<HtmlColumn>{{"a<", true}},
                        std::vector<std::vector<std::string>>{{"<1"}}),
              HasSubstr("<th scope=\"col\" class=\"number\">a&lt;</th></tr>"
                        "</thead>\n<tbody>\n<tr><th scope=\"row\" "
                        "class=\"number\">&lt;1</th></tr>"));
}

}  // namespace
}  // namespace astra
