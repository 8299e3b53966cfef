#include <string>
#include <vector>

#include "astra-core/pages/bar_chart.h"
#include "astra-core/pages/line_chart.h"
#include "astra-core/pages/page.h"
#include "astra-core/pages/pie_chart.h"
#include "astra-core/pages/scatter_chart.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(BarChartTest, HasThePartsThatOccur) {
  const std::vector<BarPart> parts = {
      {"a", "#111111"}, {"never", "#222222"}, {"b", "#333333"}};
  const std::vector<StackedBar> bars = {{"one", {3, 0, 1}, "4 s"},
                                        {"two", {2, 0, 0}, "2 s"}};
  const DrawnChart chart = Draw(BarChart{parts, bars, "s", 1}, "Two bars");
  EXPECT_EQ(chart.json,
            R"({"kind":"bars","label":"Two bars","unit":"s","parts":[)"
            R"({"name":"a","colour":"#111111"},)"
            R"({"name":"b","colour":"#333333"}],"bars":[)"
            R"({"name":"one","whole":"4 s","parts":[3,1]},)"
            R"({"name":"two","whole":"2 s","parts":[2,0]}]})");
  EXPECT_THAT(chart.numbers, HasSubstr("<table aria-label=\"Two bars\">"));
  EXPECT_THAT(
      chart.numbers,
      HasSubstr("<th scope=\"row\">one</th><td class=\"number\">3.0</td>"
                "<td class=\"number\">1.0</td>"
                "<td class=\"number\">4 s</td>"));
  EXPECT_THAT(chart.numbers, Not(HasSubstr("never")));
}

TEST(LineChartTest, HasAxesLimitMarksAndTitles) {
  const DrawnChart chart =
      Draw(LineChart{.x = {.name = "s", .is_log = true},
                     .y = {.name = "%", .from_zero = true},
                     .lines = {{"a", {{1, 0}, {10, 100, "m", "top"}}}},
                     .x_limit = ChartLimit{2, "limit"},
                     .has_dots = true},
           "A line");
  EXPECT_EQ(chart.json,
            R"({"kind":"lines","label":"A line","x":{"name":"s","log":true},)"
            R"("y":{"name":"%","zero":true},)"
            R"("limit":{"axis":"x","name":"limit","at":2},"lines":[)"
            R"({"name":"a","join":"straight","dots":true,)"
            R"("points":[[1,0],[10,100,"m","top"]]}]})");
}

std::string NumbersOf(std::vector<ChartLine> lines) {
  return Draw(LineChart{.x = {.name = "s"},
                        .y = {.name = "%"},
                        .lines = std::move(lines)},
              "Lines")
      .numbers;
}

// What lines share is the first column; without that each point has a row.
TEST(LineChartTest, TheTableHasAColumnForEachLine) {
  const auto head = [](const std::string& first, const std::string& second,
                       const std::string& third) {
    return HasSubstr("class=\"number\">" + first +
                     "</th><th scope=\"col\" class=\"number\">" + second +
                     "</th><th scope=\"col\" class=\"number\">" + third + "<");
  };
  EXPECT_THAT(NumbersOf({{"a", {{1, 2}, {3, 4}}}, {"b", {{1, 5}, {3, 6}}}}),
              head("s", "a %", "b %"));
  EXPECT_THAT(NumbersOf({{"a", {{1, 2}, {3, 4}}}, {"b", {{7, 2}, {8, 4}}}}),
              head("%", "a s", "b s"));
  EXPECT_THAT(
      NumbersOf({{"a", {{1, 2}, {3, 4}}}, {"b", {{1, 2}}}}),
      HasSubstr("<tr><th scope=\"row\">b</th><td class=\"number\">1</td>"
                "<td class=\"number\">2</td></tr>"));
}

TEST(ScatterChartTest, JoinsTheFrontByStepsFromTheLeft) {
  const DrawnChart chart = Draw(ScatterPlot{.x_name = "s",
                                            .y_name = "GiB",
                                            .points = {{100, 0, true, "2", "x"},
                                                       {0, 100, true, "1", "y"},
                                                       {9, 9, false, "3", "z"}},
                                            .limit = ScatterLimit{80, "all"}},
                                "others", "best", "Some points");
  EXPECT_THAT(chart.json,
              HasSubstr(R"("limit":{"axis":"y","name":"all","at":80},)"
                        R"("lines":[{"name":"others","join":"none",)"
                        R"("dots":true,"points":[[9,9,"","z"]]},)"
                        R"({"name":"best","join":"steps","dots":true,)"
                        R"("points":[[0,100,"1","y"],[100,0,"2","x"]]}]})"));
  EXPECT_EQ(chart.numbers, "");
}

TEST(PieChartTest, TheTableEndsWithShares) {
  const DrawnChart chart =
      Draw(PieChart{{{"a", 3, {"3 s"}}, {"b", 1, {"1 s"}}}, {"time"}}, "A pie");
  EXPECT_THAT(chart.json,
              HasSubstr(R"({"name":"a","size":3,"text":"3 s, 75.00 %"})"));
  EXPECT_THAT(chart.numbers, HasSubstr("b</th><td class=\"number\">1 s</td>"
                                       "<td class=\"number\">25.00</td>"));
}

TEST(PageTest, HasOneBlockOfAllChartsAndOneLibrary) {
  Page page("a < b", "de");
  const std::string first = page.Add({"{\"label\":\"</script>\"}", ""});
  const std::string second = page.Add({"{}", "<table></table>"});
  EXPECT_EQ(first, "<figure class=\"chart\" data-chart=\"0\"></figure>\n");
  EXPECT_EQ(second,
            "<figure class=\"chart\" data-chart=\"1\"></figure>\n"
            "<details><summary>Numbers</summary>\n<table></table></details>\n");
  const std::string html = page.Html("<p>facts</p>", first + second);
  EXPECT_THAT(html, HasSubstr("<html lang=\"de\">"));
  EXPECT_THAT(html, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(html,
              HasSubstr("<script type=\"application/json\" id=\"charts\">["
                        "{\"label\":\"\\u003c/script\\u003e\"},\n{}]"
                        "</script>"));
  const size_t library = html.find("/*! Apache ECharts");
  ASSERT_NE(library, std::string::npos);
  EXPECT_EQ(library, html.rfind("/*! Apache ECharts"));
}

TEST(PageTest, HasNoLibraryWithoutCharts) {
  EXPECT_THAT(Page("a").Html("", "<p>b</p>"), Not(HasSubstr("ECharts")));
}

}  // namespace
}  // namespace astra
