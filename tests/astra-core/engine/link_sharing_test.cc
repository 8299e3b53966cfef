#include "astra-core/engine/link_sharing.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::OneServer;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr CostKey kKeyA = {ParallelDimension::kTensor,
                           CollectiveKind::kAllReduce};
constexpr CostKey kKeyB = {ParallelDimension::kData,
                           CollectiveKind::kAllReduce};
constexpr CostKey kKeyC = {ParallelDimension::kExpert,
                           CollectiveKind::kAllToAll};

// Two GPUs on two cables of equal rate. A loads link 0, B links 0 and 1, C link
// 1 and, half as much, link 2.
class LinkSharingTest : public ::testing::Test {
 protected:
  static CollectiveCost Loading(std::vector<double> bytes_per_byte) {
    CollectiveCost cost;
    cost.algorithm.name = "ring";
    cost.forms.link_bytes_per_byte = std::move(bytes_per_byte);
    return cost;
  }

  // A collective whose bytes take `transfer` of its 100 ps.
  LinkUse Use(const CostKey& key, int64_t transfer) const {
    TimedCollective timed;
    timed.time = TimePs(100);
    timed.transfer = TimePs(transfer);
    timed.registry_name = "ring";
    return sharing_.UseOf(key, timed);
  }

  const Topology topology_ = OneServer(2, "800Gbps", "0ns");
  const CollectiveCosts costs_ = {{kKeyA, Loading({7, 0, 0, 0})},
                                  {kKeyB, Loading({2, 2, 0, 0})},
                                  {kKeyC, Loading({0, 4, 2, 0})}};
  LinkSharing sharing_{costs_, topology_};
};

TEST_F(LinkSharingTest, TwoOnOneLinkHaveHalfEach) {
  EXPECT_THAT(sharing_.Speeds({Use(kKeyA, 100), Use(kKeyB, 100)}),
              ElementsAre(0.5, 0.5));
  EXPECT_THAT(sharing_.Speeds({Use(kKeyA, 100), Use(kKeyC, 100)}),
              ElementsAre(1, 1));
}

TEST_F(LinkSharingTest, LatencyLeavesTheLinkToOthers) {
  EXPECT_THAT(sharing_.Speeds({Use(kKeyA, 30), Use(kKeyB, 70)}),
              ElementsAre(1, 1));
  EXPECT_THAT(
      sharing_.Speeds({Use(kKeyA, 30), Use(kKeyB, 90)}),
      ElementsAre(DoubleNear(1 / 1.2, 1e-12), DoubleNear(1 / 1.2, 1e-12)));
}

// A and B fill link 0 at half speed. On link 1, B leaves half to C.
TEST_F(LinkSharingTest, WhatOneCannotUseTheOthersHave) {
  EXPECT_THAT(
      sharing_.Speeds({Use(kKeyC, 80), Use(kKeyA, 100), Use(kKeyB, 100)}),
      ElementsAre(DoubleNear(0.625, 1e-12), 0.5, 0.5));
}

// Messages to and from a neighbour are of one pattern.
TEST_F(LinkSharingTest, UsesOfOnePatternCountOnce) {
  EXPECT_THAT(sharing_.Speeds({Use(kKeyA, 100), Use(kKeyA, 50)}),
              ElementsAre(1, 1));
  EXPECT_THAT(
      sharing_.Speeds({Use(kKeyA, 100), Use(kKeyB, 100), Use(kKeyA, 50)}),
      ElementsAre(0.5, 0.5, 0.5));
}

}  // namespace
}  // namespace astra
