#include "collectives/measurements/error_summary.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ErrorSummaryTest, PercentilesAreByNearestRank) {
  // Ranks of four: the median is the second, the 90th percentile the fourth.
  const ErrorSummary four = SummarizeErrors({-40, 10, 20, -30});
  EXPECT_EQ(four.num_rows, 4U);
  EXPECT_EQ(four.median, -30);
  EXPECT_EQ(four.median_abs, 20);
  EXPECT_EQ(four.p90_abs, 40);
  // Of ten: the fifth and the ninth.
  const ErrorSummary ten = SummarizeErrors({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  EXPECT_EQ(ten.median_abs, 5);
  EXPECT_EQ(ten.p90_abs, 9);
  EXPECT_EQ(SummarizeErrors({-7}).p90_abs, 7);
  EXPECT_EQ(SummarizeErrors({}).num_rows, 0U);
}

MeasuredTable TableOf(std::string_view rows) {
  return ValueOrDie(ParseMeasuredTable(
      "t", fmt::format("source_url,gpu,nodes,gpus_total,nic_gbps,collective,"
                       "bytes,time_us,env,notes\n{}",
                       rows)));
}

TEST(ErrorSummaryTest, CountsWhatIsToBeScored) {
  const MeasuredTable table = TableOf(
      "s,A100,1,8,none,all_reduce,1048576,100,Ring,q=A\n"
      "s,A100,1,8,none,all_reduce,1048575,100,NVLS,q=B\n"
      "s,H100,2,16,8x400 IB,alltoall,8,100,,q=X\n"
      "s,H100,2,16,8x400 IB,alltoall,8,100,Tree,\n");
  const std::string text =
      FormatErrorSummary(table, {{.predicted_us = 110, .algorithm = "Ring"},
                                 {.predicted_us = 80, .algorithm = "nvls_tree"},
                                 {.predicted_us = 500},
                                 {.status = "no NIC"}});
  const auto line = [](std::string_view name, std::string_view figures) {
    return HasSubstr(fmt::format("{:<56} {}\n", name, figures));
  };
  EXPECT_THAT(text, HasSubstr("4 measured rows, 3 predicted"));
  EXPECT_THAT(text, line("all but grades C and X",
                         "      2     -20.0      10.0      20.0"));
  EXPECT_THAT(text, line("  1 MiB and more, all but grades C and X",
                         "      1     +10.0      10.0      10.0"));
  EXPECT_THAT(text, line("  below 1 MiB, grade B",
                         "      1     -20.0      20.0      20.0"));
  EXPECT_THAT(text, line("grade X, not in any other line",
                         "      1    +400.0     400.0     400.0"));
  EXPECT_THAT(text, line("  1e6 B to below 1e7 B",
                         "      2     -20.0      10.0      20.0"));
  EXPECT_THAT(text, Not(HasSubstr("  alltoall")));
  EXPECT_THAT(text, HasSubstr("not predicted\n      1  no NIC\n"));
  EXPECT_THAT(text, HasSubstr("algorithm: stated 2, matched 1\n"));
}

}  // namespace
}  // namespace astra
