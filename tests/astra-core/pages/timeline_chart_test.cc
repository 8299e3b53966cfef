#include "astra-core/pages/timeline_chart.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra {
namespace {

using ::testing::HasSubstr;

constexpr BarPart kKinds[] = {
    {"compute", "#111111"}, {"wait", "#222222"}, {"never", "#333333"}};

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(TimelineChartTest, HasSpansAndTheirTitles) {
  const std::vector<TimelineRow> rows = {
      {"rank 0", {{0, 4, 0, "a < b"}, {4, 10, 1, "waits"}}},
      {"rank 1", {{0, 5, 0, ""}}}};
  const DrawnChart chart = Draw(TimelineChart{kKinds, rows, "ms"}, "two ranks");
  EXPECT_THAT(chart.json,
              HasSubstr(R"("rows":[{"name":"rank 0","spans":[[0,4,0,"a < b"],)"
                        R"([4,10,1,"waits"]]},)"
                        R"({"name":"rank 1","spans":[[0,5,0]]}]})"));
  EXPECT_THAT(chart.numbers, HasSubstr("<tr><th scope=\"row\">rank 0</th>"
                                       "<td class=\"number\">4.000000</td>"
                                       "<td class=\"number\">10.000000</td>"
                                       "<td>wait</td><td>waits</td></tr>"));
}

// Of 100,000 spans few remain, and none of the time is lost.
TEST(TimelineChartTest, JoinsSpansThatAreTooShortToSee) {
  std::vector<TimelineRow> rows = {{"rank 0", {}}};
  for (int i = 0; i < 100'000; ++i) {
    const double begin = i;
    rows[0].spans.push_back(
        {begin, begin + 1, i % 10 == 0 ? size_t{1} : 0, "x"});
  }
  const DrawnChart chart = Draw(TimelineChart{kKinds, rows, "ms"}, "many");
  const size_t spans = CountOf(chart.numbers, "<tr><th scope=\"row\">");
  EXPECT_LE(spans, kMostTimelineSpans);
  EXPECT_GT(spans, 1000U);
  EXPECT_THAT(chart.numbers, HasSubstr(">100000.000000<"));
}

}  // namespace
}  // namespace astra
