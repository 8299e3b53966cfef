#include "collectives/measurements/comparison_plot.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::Not;

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t i = text.find(part); i != std::string_view::npos;
       i = text.find(part, i + part.size())) {
    ++count;
  }
  return count;
}

TEST(ComparisonPlotTest, HasAPanelForEachSeriesOfMeasurements) {
  const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
      "t",
      "gpu,nodes,gpus_total,nic_gbps,collective,bytes,time_us,env\n"
      "A100,1,8,none,all_reduce,100,10,Ring\n"
      "A100,1,8,none,all_reduce,10,10,Ring\n"
      "A100,1,8,none,all_reduce,10,10,Tree\n"
      "A100,2,16,8x200 IB,all_reduce,10,10,Ring\n"
      "A100,2,16,8x200 IB,nothing,10,10,Ring\n"));
  const std::string svg = PlotComparison(table, {{.predicted_us = 10},
                                                 {.predicted_us = 100},
                                                 {.predicted_us = 10},
                                                 {.status = "no NIC"},
                                                 {.status = "no collective"}});
  EXPECT_EQ(Count(svg, "size (bytes)"), 2U);
  EXPECT_THAT(svg, HasSubstr(">A100, 1 x 8, all_reduce</text>"));
  EXPECT_THAT(svg, HasSubstr(">A100, 2 x 8, all_reduce</text>"));
  EXPECT_EQ(Count(svg, "<circle"), 4U);
  // The line goes from the smallest size up.
  EXPECT_EQ(Count(svg, "class=\"l\""), 2U);
  EXPECT_THAT(svg, HasSubstr("d=\"M52.0 72.0L326.0 262.0\""));
  EXPECT_THAT(svg, Not(HasSubstr("more</text>")));
}

}  // namespace
}  // namespace astra
