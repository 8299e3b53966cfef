#include "workload/kernels/transfer.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

TEST(CarryOverTest, FloorRestAndWorkScaleEachInItsWay) {
  // 2 us to start, 4 at the peaks, 4 beside; a quarter of the bound.
  EXPECT_NEAR(CarryOver({10, 4, 2}, 1, 0.5), 2 + 4 * 0.5 + 4 * 0.25, 1e-12);
  EXPECT_NEAR(CarryOver({10, 4, 2}, 1, 0.75), 2 + 4 * 0.353553 + 1, 1e-5);
}

TEST(CarryOverTest, ATimeBelowTheFloorStays) {
  EXPECT_NEAR(CarryOver({1, 4, 2}, 1, 0.5), 1, 1e-12);
}

TEST(CarryOverTest, AKernelBeyondThePeaksScalesAsTheBound) {
  // Operands in the cache: 3 us of work, less than the bound of 4.
  EXPECT_NEAR(CarryOver({5, 4, 2}, 2, 0.5), 2 + 3 * 0.5, 1e-12);
}

TEST(CarryOverTest, TheSameGpuChangesNothing) {
  EXPECT_NEAR(CarryOver({10, 4, 2}, 4, 0.5), 10, 1e-12);
}

}  // namespace
}  // namespace astra
