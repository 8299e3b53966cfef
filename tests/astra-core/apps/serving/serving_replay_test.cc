#include "astra-core/apps/serving/serving_replay.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

TEST(ReplayedLoadTest, FailsWhereRequestsAreServedTooSlowly) {
  ReplayedLoad load;
  load.rate = 20;
  load.share = 0.995;
  load.served = 17;
  EXPECT_EQ(load.share_if_steady(), 0.995);
  load.served = 16.9;
  EXPECT_EQ(load.share_if_steady(), 0);
}

}  // namespace
}  // namespace astra
