#include "collectives/measurements/comparison.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::Field;

TEST(ComparisonTest, KeepsTheColumnsAndAddsItsOwn) {
  const MeasuredTable table = ValueOrDie(ParseMeasuredTable(
      "t",
      "bytes,gpu,status,nodes,gpus_total,nic_gbps,collective,time_us,notes\n"
      "08,A100,old,1,8,none,all_reduce,3,\"q=A; a, \"\"b\"\"\"\n"
      "8,A100,old,1,8,none,all_reduce,100000,\n"
      "8,A100,old,1,8,none,nothing,3,\n"));
  EXPECT_EQ(
      FormatComparison(
          table, {{.predicted_us = 4, .algorithm = "Ring", .protocol = "LL"},
                  {.predicted_us = 99999.999},
                  {.status = "unknown collective \"nothing\""}}),
      "bytes,gpu,nodes,gpus_total,nic_gbps,collective,time_us,notes,"
      "predicted_us,error_pct,algorithm,protocol,status\n"
      "08,A100,1,8,none,all_reduce,3,\"q=A; a, \"\"b\"\"\",4,33.33,Ring,LL,ok\n"
      "8,A100,1,8,none,all_reduce,100000,,99999.999,0.00,,,ok\n"
      "8,A100,1,8,none,nothing,3,,,,,,\"unknown collective \"\"nothing\"\"\""
      "\n");
}

TEST(ComparisonTest, IsThreeFiles) {
  EXPECT_THAT(ComparisonFiles({}, {}),
              ElementsAre(Field(&NamedFile::name, "comparison.csv"),
                          Field(&NamedFile::name, "comparison.svg"),
                          Field(&NamedFile::name, "summary.txt")));
}

}  // namespace
}  // namespace astra
