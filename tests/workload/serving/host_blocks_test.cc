#include "workload/serving/host_blocks.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

TEST(HostBlocksTest, GivesUpWhatWasUsedLongestAgo) {
  HostBlocks host(10);
  host.Put(1, 4);
  host.Put(2, 4);
  host.Touch(1);
  host.Put(3, 3);  // Takes the place of 2.
  EXPECT_EQ(host.Find(1), 4);
  EXPECT_EQ(host.Find(2), 0);
  EXPECT_EQ(host.Find(3), 3);
  EXPECT_EQ(host.used(), 7);
}

TEST(HostBlocksTest, KeepsTheLastSizeOfASegment) {
  HostBlocks host(10);
  host.Put(1, 4);
  host.Put(1, 6);
  EXPECT_EQ(host.Find(1), 6);
  EXPECT_EQ(host.used(), 6);
  host.Put(2, 11);
  EXPECT_EQ(host.Find(2), 0);
  EXPECT_EQ(host.used(), 6);
}

}  // namespace
}  // namespace astra
