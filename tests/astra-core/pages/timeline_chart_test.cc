#include "astra-core/pages/timeline_chart.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// Of 10 ms, rank 0 computes 4 and waits 6: 400 and 600 of 1,000.
TEST(TimelineChartTest, DrawsSpansOnOneScale) {
  const std::string html =
      TimelineChart(kKinds,
                    std::vector<TimelineRow>{
                        {"rank 0", {{0, 4, 0, "a < b"}, {4, 10, 1, "waits"}}},
                        {"rank 1", {{0, 5, 0, ""}}}},
                    "ms", "two ranks");
  EXPECT_THAT(html,
              HasSubstr("<rect x=\"0.0000\" y=\"1\" width=\"400.0000\" "
                        "height=\"20\" fill=\"#111111\"><title>a &lt; b"));
  EXPECT_THAT(html, HasSubstr("<rect x=\"400.0000\" y=\"1\" "
                              "width=\"600.0000\""));
  EXPECT_THAT(html, HasSubstr("<rect x=\"0.0000\" y=\"23\" "
                              "width=\"500.0000\""));
  EXPECT_THAT(html, HasSubstr("data-end=\"10\" data-unit=\"ms\""));
  EXPECT_THAT(html, HasSubstr("<span>0</span><span>2.5</span><span>5</span>"
                              "<span>7.5</span><span>10</span>"));
  EXPECT_THAT(html, Not(HasSubstr("never")));
}

// Of 100,000 spans few remain, and none of the time is lost.
TEST(TimelineChartTest, JoinsSpansThatAreTooShortToSee) {
  TimelineRow row{"rank 0", {}};
  for (int i = 0; i < 100'000; ++i) {
    const double begin = i;
    row.spans.push_back({begin, begin + 1, i % 10 == 0 ? size_t{1} : 0, "x"});
  }
  const std::string html =
      TimelineChart(kKinds, std::vector<TimelineRow>{row}, "ms", "many");
  EXPECT_LE(CountOf(html, "<rect"), kMostTimelineSpans);
  EXPECT_GT(CountOf(html, "<rect"), 1000u);
}

TEST(TimelineChartTest, NothingIsSaid) {
  EXPECT_THAT(TimelineChart(kKinds, {}, "ms", "none"),
              HasSubstr("Nothing takes any time"));
}

}  // namespace
}  // namespace astra
