#include "astra-core/apps/physical/run_beside.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

constexpr std::string_view kHead =
    "collective,group,ranks,count,bytes,time_us\n";

MeanTimes Times(std::string rows) {
  return ValueOrDie(ParseMeanTimes("c.csv", std::string(kHead) + rows));
}

TEST(RunBesideTest, MeansCountEveryCollective) {
  const MeanTimes times =
      Times("all-reduce,TP,8,1,1024,10\nall-reduce,TP,8,3,1024,30\n");
  const MeanTime& mean = times.at({"all-reduce", "TP", 8, 1024});
  EXPECT_EQ(mean.count, 4);
  EXPECT_DOUBLE_EQ(mean.us, 25);
}

TEST(RunBesideTest, ErrorsAreOfTheMeasuredTime) {
  const MeanTimes measured = Times(
      "all-reduce,TP,8,1,2097152,100\nall-reduce,TP,8,1,1048576,50\n"
      "all-reduce,TP,8,1,8,10\nall-to-all,EP,8,1,8,1\n");
  const MeanTimes simulated = Times(
      "all-reduce,TP,8,1,2097152,90\nall-reduce,TP,8,1,1048576,51\n"
      "all-reduce,TP,8,1,8,20\n");
  const Beside beside = ValueOrDie(SetBeside(measured, simulated));
  ASSERT_EQ(beside.rows.size(), 3u);
  EXPECT_DOUBLE_EQ(beside.rows[0].error_percent(), 100);  // Of 8 B.
  EXPECT_DOUBLE_EQ(beside.rows[2].error_percent(), -10);
  EXPECT_DOUBLE_EQ(MedianError(beside, Bytes(1 << 20)), 6);  // Of 2 and 10.
  EXPECT_EQ(MedianError(beside, Bytes(1 << 30)), -1);
  EXPECT_EQ(beside.only_measured, 1u);
  EXPECT_EQ(beside.only_simulated, 0u);
}

TEST(RunBesideTest, NothingInCommonIsAnError) {
  EXPECT_FALSE(SetBeside(Times("all-reduce,TP,8,1,8,1\n"), Times("")).ok());
}

}  // namespace
}  // namespace astra::testing
