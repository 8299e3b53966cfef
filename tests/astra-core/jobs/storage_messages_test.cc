// Which ranks move which bytes to or from which storage server.

#include "astra-core/jobs/storage_messages.h"

#include <cstdint>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"
#include "topology/storage.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using Part = std::tuple<uint32_t, uint32_t, int64_t>;

// GPUs 0 to 7 below switch 8, and storage servers 9 to 11.
Topology Star() {
  Drawing drawing(8, 1, 0, 1);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) drawing.Cable(gpu, 8);
  return ValueOrDie(
      WithStorage(drawing.Build(), {.servers = 3, .cable = {"200Gbps"}}));
}

// Rank, storage server and bytes of each message.
std::vector<Part> PartsOf(const StorageAmount& amount, ParallelSizes sizes) {
  sizes.num_ranks = 8;
  std::vector<Part> parts;
  for (const StorageMessage& message : StorageMessagesOf(
           amount, ValueOrDie(ParallelPlan::Create(sizes)), Star())) {
    parts.emplace_back(message.rank.index(), message.storage.index(),
                       message.bytes.count());
  }
  return parts;
}

// rank = tp + 2 dp + 4 pp: the ranks of dp 0 are 0, 1, 4 and 5.
TEST(StorageMessagesTest, TheFirstReplicaHasEachWeightOnce) {
  EXPECT_THAT(PartsOf({Bytes(10), StorageRanks::kFirstReplica, 1},
                      {.tensor = 2, .pipeline = 2}),
              ElementsAre(Part(0, 9, 3), Part(1, 10, 3), Part(4, 11, 2),
                          Part(5, 9, 2)));
  // Of 8 ranks of DP, 4 hold different experts.
  EXPECT_THAT(
      PartsOf({Bytes(8), StorageRanks::kFirstReplica, 1}, {.expert = 4}),
      ElementsAre(Part(0, 9, 2), Part(1, 10, 2), Part(2, 11, 2),
                  Part(3, 9, 2)));
}

// Replica 1 has the ranks of dp 1: 2, 3, 6 and 7.
TEST(StorageMessagesTest, EveryReplicaMovesACopyOfItsOwn) {
  EXPECT_THAT(PartsOf({Bytes(9), StorageRanks::kEveryReplica, 1},
                      {.tensor = 2, .pipeline = 2}),
              ElementsAre(Part(0, 9, 3), Part(1, 10, 2), Part(4, 11, 2),
                          Part(5, 9, 2), Part(2, 10, 3), Part(3, 11, 2),
                          Part(6, 9, 2), Part(7, 10, 2)));
}

TEST(StorageMessagesTest, TheFirstStageReads) {
  EXPECT_THAT(PartsOf({Bytes(4), StorageRanks::kFirstStage, 1},
                      {.tensor = 2, .pipeline = 2}),
              ElementsAre(Part(0, 9, 1), Part(1, 10, 1), Part(2, 11, 1),
                          Part(3, 9, 1)));
}

TEST(StorageMessagesTest, StripesOfARankTakeDifferentServers) {
  EXPECT_THAT(
      PartsOf({Bytes(400), StorageRanks::kFirstReplica, 2}, {.tensor = 2}),
      ElementsAre(Part(0, 9, 100), Part(0, 10, 100), Part(1, 11, 100),
                  Part(1, 9, 100)));
}

TEST(StorageMessagesTest, PartsWithoutAByteAreNotSent) {
  EXPECT_THAT(PartsOf({Bytes(2), StorageRanks::kAll, 1}, {}),
              ElementsAre(Part(0, 9, 1), Part(1, 10, 1)));
}

}  // namespace
}  // namespace astra::testing
