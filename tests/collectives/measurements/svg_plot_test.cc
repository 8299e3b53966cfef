#include "collectives/measurements/svg_plot.h"

#include <limits>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PlotPanel PanelOf(PlotSeries series) {
  return {.title = {"one"},
          .x_label = "size (bytes)",
          .y_label = "time (us)",
          .series = {std::move(series)}};
}

TEST(SvgPlotTest, PutsPointsOnLogarithmicAxes) {
  const std::string svg = FormatSvg(
      "page", {PanelOf({"s", {{1, 1}, {100, 10}}, {{10, 1}, {100, 10}}})});
  // Axes from 1 to 100 over 52 to 326 pixels, and from 1 to 10 over 190 pixels
  // from 249 up.
  EXPECT_THAT(svg, HasSubstr("cx=\"52.0\" cy=\"249.0\""));
  EXPECT_THAT(svg, HasSubstr("cx=\"326.0\" cy=\"59.0\""));
  EXPECT_THAT(svg, HasSubstr("d=\"M189.0 249.0L326.0 59.0\""));
  EXPECT_THAT(svg, HasSubstr(">1e2</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">1e3</text>")));
  EXPECT_THAT(svg, HasSubstr(">size (bytes)</text>"));
  EXPECT_THAT(svg, HasSubstr(">time (us)</text>"));
}

TEST(SvgPlotTest, LeavesOutWhatHasNoLogarithm) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string svg =
      FormatSvg("page", {PanelOf({"s", {{0, 1}, {1, -1}, {infinity, 1}}, {}})});
  EXPECT_THAT(svg, Not(HasSubstr("<circle")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, HasSubstr(">1e0</text>"));
}

TEST(SvgPlotTest, AnyTextIsValidXml) {
  EXPECT_THAT(FormatSvg("<a & b>\n\xff.", {}),
              HasSubstr(">&lt;a &amp; b&gt;??.</text>"));
}

}  // namespace
}  // namespace astra
