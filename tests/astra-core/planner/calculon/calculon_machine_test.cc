#include "astra-core/planner/calculon/calculon_machine.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

TEST(CalculonMachineTest, SmallOperationsReachLessOfThePeak) {
  const CalculonRate rate = {100, {{50, 0.5}, {0, 0.1}}};
  EXPECT_EQ(CalculonSeconds(rate, 50), 1);  // 50 / (100 x 0.5).
  EXPECT_EQ(CalculonSeconds(rate, 40), 4);  // 40 / (100 x 0.1).
  EXPECT_EQ(CalculonSeconds(rate, 0), 0);
}

TEST(CalculonMachineTest, ARooflineOverlapsAccesses) {
  CalculonSystem system;
  EXPECT_EQ(CalculonLayerSeconds(system, 2, 3), 5);
  system.overlaps_memory = true;
  EXPECT_EQ(CalculonLayerSeconds(system, 2, 3), 3);
}

TEST(CalculonMachineTest, AnOperationSendsItsScalarAndAShareByRanks) {
  CalculonNetwork network;
  network.bandwidth = 100;
  network.efficiency = 0.5;
  network.latency = 1;
  network.ops[3] = {2, -1};
  // 80 bytes x 2 x (1 - 1/4) = 120 bytes at 50 bytes/s.
  EXPECT_DOUBLE_EQ(
      CalculonNetworkSeconds(network, CalculonOp::kAllReduce, 80, 4), 3.4);
}

}  // namespace
}  // namespace astra
