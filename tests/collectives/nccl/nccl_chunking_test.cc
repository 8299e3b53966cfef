#include "collectives/nccl/nccl_chunking.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;

GroupHardware Hardware(uint32_t num_servers) {
  GroupHardware hardware;
  hardware.num_servers = num_servers;
  hardware.num_ranks = 8 * num_servers;
  hardware.ranks_per_server = 8;
  hardware.fewest_ranks_per_server = 8;
  return hardware;
}

Chunking Of(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes bytes,
            uint32_t num_servers = 1) {
  return NcclChunking(algorithm, protocol, kAllReduce, bytes, 16,
                      Hardware(num_servers));
}

TEST(NcclChunkingTest, RingsMoveAStepAtATimeOrFourInTwoSlices) {
  constexpr NcclAlgorithm kRing = NcclAlgorithm::kRing;
  EXPECT_EQ(Of(kRing, NcclProtocol::kSimple, MiB(64)),
            (Chunking{16, MiB(2), 2}));
  EXPECT_EQ(Of(kRing, NcclProtocol::kLl128, MiB(64)),
            (Chunking{16, Bytes(576'000), 1}));
  EXPECT_EQ(Of(kRing, NcclProtocol::kLl, MiB(64)), (Chunking{16, KiB(32), 1}));
}

// 512 threads of 64 B are 32 KiB, 640 of 8 B are 5 KiB; with LL, of 8 B for
// each of 8 ranks, again 32 KiB.
TEST(NcclChunkingTest, SmallBuffersUseFewerChannels) {
  const auto channels = [](NcclAlgorithm algorithm, NcclProtocol protocol,
                           Bytes bytes) {
    return Of(algorithm, protocol, bytes).num_channels;
  };
  constexpr NcclAlgorithm kRing = NcclAlgorithm::kRing;
  EXPECT_EQ(channels(kRing, NcclProtocol::kSimple, KiB(1)), 1u);
  EXPECT_EQ(channels(kRing, NcclProtocol::kSimple, KiB(96)), 3u);
  EXPECT_EQ(channels(kRing, NcclProtocol::kLl128, KiB(24)), 4u);
  EXPECT_EQ(channels(kRing, NcclProtocol::kLl, KiB(64)), 2u);
  EXPECT_EQ(channels(NcclAlgorithm::kTree, NcclProtocol::kLl, KiB(12)), 3u);
  EXPECT_EQ(channels(NcclAlgorithm::kNvls, NcclProtocol::kSimple, KiB(1)), 16u);
}

// 16 channels of 8 heads have 16 MiB at a time in chunks of 128 KiB.
TEST(NcclChunkingTest, ChunksOfNvSwitchesShrinkWithTheBuffer) {
  const auto chunk = [](NcclAlgorithm algorithm, Bytes bytes,
                        uint32_t num_servers) {
    return Of(algorithm, NcclProtocol::kSimple, bytes, num_servers).max_chunk;
  };
  EXPECT_EQ(chunk(NcclAlgorithm::kNvls, MiB(1024), 1), KiB(128));
  EXPECT_EQ(chunk(NcclAlgorithm::kNvls, MiB(1023), 1), KiB(64));
  EXPECT_EQ(chunk(NcclAlgorithm::kNvls, MiB(63), 1), KiB(32));
  EXPECT_EQ(chunk(NcclAlgorithm::kNvls, MiB(7), 1), KiB(16));
  EXPECT_EQ(chunk(NcclAlgorithm::kNvlsTree, MiB(64), 2), KiB(128));
  EXPECT_EQ(chunk(NcclAlgorithm::kNvlsTree, MiB(64), 4), KiB(64));
  EXPECT_EQ(chunk(NcclAlgorithm::kNvlsTree, MiB(7), 4), KiB(32));
}

TEST(NcclChunkingTest, TreesHalveTheChunksOfLl128) {
  // 1 + log2(8) + 0.8 steps: above 38.4 chunks of 576000 B on each channel
  // nothing is halved; one has 8 x 4.8, then 2 x 4.8 chunks or more.
  const auto chunk = [](Bytes bytes) {
    return Of(NcclAlgorithm::kTree, NcclProtocol::kLl128, bytes, 8).max_chunk;
  };
  EXPECT_EQ(chunk(MiB(1024)), Bytes(576'000));
  EXPECT_EQ(chunk(MiB(256)), Bytes(288'000));
  EXPECT_EQ(chunk(MiB(1)), Bytes(18'000));
  EXPECT_EQ(
      Of(NcclAlgorithm::kTree, NcclProtocol::kSimple, MiB(1), 8).max_chunk,
      KiB(512));
}

}  // namespace
}  // namespace astra
