#include "astra-core/results/completions_table.h"

#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

TrafficMessage MessageOf(uint32_t pattern, int64_t start_us, int64_t bytes) {
  return {Microseconds(start_us), RankId(0), RankId(1), Bytes(bytes), pattern};
}

// The first pattern takes 2, 4 and 9 us; of the second one message of two has
// arrived, after 3 us.
TEST(CompletionsTableTest, SaysEachPatternAndAll) {
  Traffic traffic;
  traffic.patterns = {"incast", "permutation"};
  traffic.messages = {MessageOf(0, 1, 1000), MessageOf(0, 1, 1000),
                      MessageOf(1, 2, 6000), MessageOf(0, 2, 2000),
                      MessageOf(1, 5, 7000)};
  const std::vector<TimePs> finish = {Microseconds(5), Microseconds(3),
                                      Microseconds(5), Microseconds(11),
                                      TimePs(-1)};
  EXPECT_EQ(
      CompletionsCsv(CompletionsOf(traffic, finish)),
      "pattern,messages,arrived,bytes,mean_us,median_us,p99_us,max_us,"
      "first_start_us,last_finish_us,goodput_GBps\n"
      "incast,3,3,4000,5.000000,4.000000,9.000000,9.000000,1.000000,11.000000,"
      "0.400000\n"
      "permutation,2,1,6000,3.000000,3.000000,3.000000,3.000000,2.000000,"
      "5.000000,2.000000\n"
      "all,5,4,10000,4.500000,3.000000,9.000000,9.000000,1.000000,11.000000,"
      "1.000000\n");
}

// 1 us to 200 us: 1 % of them, two, are longer than the percentile.
TEST(CompletionsTableTest, APercentileIsTheTimeOfAMessage) {
  Traffic traffic;
  traffic.patterns = {"all-to-all"};
  std::vector<TimePs> finish;
  for (int64_t i = 200; i > 0; --i) {
    traffic.messages.push_back(MessageOf(0, 0, 1));
    finish.push_back(Microseconds(i));
  }
  const std::vector<CompletionRow> rows = CompletionsOf(traffic, finish);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].median, Microseconds(100));
  EXPECT_EQ(rows[0].p99, Microseconds(198));
  EXPECT_EQ(rows[0].longest, Microseconds(200));
}

TEST(CompletionsTableTest, NoMessageHasNoTimes) {
  Traffic traffic;
  traffic.patterns = {"incast"};
  traffic.messages = {MessageOf(0, 3, 1)};
  const std::vector<TimePs> finish = {TimePs(-1)};
  EXPECT_EQ(CompletionsCsv(CompletionsOf(traffic, finish)),
            "pattern,messages,arrived,bytes,mean_us,median_us,p99_us,max_us,"
            "first_start_us,last_finish_us,goodput_GBps\n"
            "incast,1,0,0,,,,,3.000000,,\n");
}

}  // namespace
}  // namespace astra
