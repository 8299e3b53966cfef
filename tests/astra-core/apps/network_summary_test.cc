#include "astra-core/apps/network_summary.h"

#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// GPUs 0 and 1 below switches 2 and 3 of tier 1, switches 4 and 5 above these.
// The cables, each of which is two links, stand in the order of the numbers.
class NetworkSummaryTest : public ::testing::Test {
 protected:
  NetworkSummaryTest()
      : topology_(Drawing(2, 1, 0, 4)
                      .Cables({{0, 2}, {1, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}})
                      .Build()) {
    network_.links.resize(topology_.links().size());
  }

  // Sends `bytes` from GPU 0 to GPU 1 over switch 4 or 5.
  void Send(double bytes, uint32_t upper) {
    const uint32_t up = upper == 4 ? 2 : 3;
    const uint32_t down = upper == 4 ? 4 : 5;
    for (const uint32_t link : {0U, 2 * up, 2 * down + 1, 3U}) {
      network_.links[link].bytes += bytes;
      network_.links[link].busy += TimePs(static_cast<int64_t>(bytes));
    }
  }

  std::string Describe(std::string_view control = "") const {
    return DescribeNetworkUse(topology_, network_, TimePs(8000), control);
  }

  const Topology topology_;
  NetworkStatistics network_;
};

TEST_F(NetworkSummaryTest, SaysWhatEachTierCarriedAndWherePathsCollide) {
  // Switch 4 has 3,000 of 4,000 B: 1.5 times the mean.
  Send(3000, 4);
  Send(1000, 5);
  EXPECT_EQ(Describe(),
            "  GPU to tier 1     8.000 kB, busiest  50.0 % used: GPU 0 -> "
            "switch 2 (tier 1) at 400 Gbps\n"
            "  tier 1 to 2       8.000 kB, busiest  37.5 % used: switch 2 "
            "(tier 1) -> switch 4 (tier 2) at 400 Gbps\n"
            "  uneven paths: switch 2 (tier 1) -> switch 4 (tier 2) at 400 "
            "Gbps carried 1.50 times the mean of 2 equal-cost links, 37.5 % "
            "used\n");
}

// A fabric of two tiers that costs nothing, since no byte crosses the second.
TEST_F(NetworkSummaryTest, SaysOfAClosedFormWhichTierIsIdle) {
  SimulationResult result;
  result.link_bytes.assign(topology_.links().size(), 0);
  result.link_bytes[0] = 25'000;  // 500 ns at 400 Gbps.
  result.stage_time = Microseconds(1);
  EXPECT_EQ(DescribeLinkUse(topology_, result),
            "network    bytes by tier of links\n"
            "  GPU to tier 1    25.000 kB, busiest  50.0 % used: GPU 0 -> "
            "switch 2 (tier 1) at 400 Gbps\n"
            "  tier 1 to 2    carried nothing\n");
}

TEST_F(NetworkSummaryTest, SaysThatPathsAreEvenAndThatATierIsIdle) {
  Send(1000, 4);
  Send(1000, 5);
  EXPECT_THAT(
      Describe(),
      HasSubstr("  equal-cost links carried the same, to within 5 %\n"));
  for (LinkRecord& link : network_.links) link = {};
  network_.links[0].bytes = 5;
  EXPECT_THAT(Describe(), HasSubstr("  tier 1 to 2    carried nothing\n"));
}

TEST_F(NetworkSummaryTest, SaysWhetherPacketsMetCongestion) {
  EXPECT_THAT(Describe("dcqcn"),
              HasSubstr("  congestion: no packet was marked, paused or "
                        "dropped; dcqcn never acted\n"));
  EXPECT_THAT(Describe("hpcc"), EndsWith("paused or dropped\n"));
  network_.links[4].marked = 7;
  network_.links[0].pauses = 2;
  network_.links[0].paused = Microseconds(3);
  network_.cnps.resize(5);
  EXPECT_THAT(Describe("dcqcn"),
              HasSubstr("  congestion: 7 packets marked and 5 notifications "
                        "for dcqcn; 2 pauses, at most 3.000 us of one link\n"));
}

TEST_F(NetworkSummaryTest, SaysThatAControlCollapsed) {
  Send(1000, 4);
  network_.sending = TimePs(1000);
  network_.sending_slowly = TimePs(930);
  EXPECT_THAT(Describe("timely"),
              HasSubstr("\n  timely collapsed: its senders were below 1 % of "
                        "their line rate for 93 % of the time that they "
                        "sent\n"));
  network_.sending_slowly = TimePs(490);
  EXPECT_THAT(Describe("timely"), Not(HasSubstr("collapsed")));
}

}  // namespace
}  // namespace astra
