// What ranks send, by the formulas in the headers of the algorithms.

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/collectives/algorithms/flows.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::LowerBy;
using ::astra::testing::Request;
using ::testing::Each;

using enum CollectiveKind;

// Divides by all numbers of ranks here, channels and heads.
constexpr int64_t kBytes = int64_t{720'720} * 64 * 64;

std::vector<int64_t> SentByRank(std::string_view algorithm, CollectiveKind kind,
                                const GroupLayout& layout,
                                const Chunking& chunking = {}) {
  const auto graph =
      LowerBy(algorithm, Request(kind, kBytes, layout, chunking));
  std::vector<int64_t> sent(layout.num_ranks());
  for (uint64_t i = 0; i < graph->num_flows(); ++i) {
    const Flow flow = graph->flow(FlowId(i));
    if (flow.source.index() >= sent.size()) continue;
    sent[flow.source.index()] += flow.bytes.count();
  }
  return sent;
}

int64_t SentByAll(std::string_view algorithm, CollectiveKind kind,
                  const GroupLayout& layout) {
  const std::vector<int64_t> sent = SentByRank(algorithm, kind, layout);
  return std::accumulate(sent.begin(), sent.end(), int64_t{0});
}

GroupLayout WithReducer(GroupLayout layout) {
  layout.SetReducers({{}}, std::vector<uint32_t>(layout.num_ranks()));
  return layout;
}

TEST(BytesSentTest, RanksSendAsLittleAsCanBe) {
  for (const std::string_view algorithm :
       {"ring", "halving_doubling", "pat", "simai_ring"}) {
    const GroupLayout layout = GroupLayout::Even(4, 4);
    for (const CollectiveKind kind : {kAllGather, kReduceScatter}) {
      EXPECT_THAT(SentByRank(algorithm, kind, layout), Each(kBytes / 16 * 15));
    }
    if (algorithm == "pat") continue;
    EXPECT_THAT(SentByRank(algorithm, kAllReduce, layout),
                Each(2 * (kBytes / 16 * 15)));
  }
  for (const uint32_t n : {12u, 30u}) {
    for (const std::string_view algorithm : {"ring", "torus_2d", "torus_3d"}) {
      EXPECT_THAT(SentByRank(algorithm, kAllReduce, GroupLayout::Even(1, n)),
                  Each(2 * (kBytes / n * (n - 1))));
    }
    EXPECT_THAT(SentByRank("pat", kAllGather, GroupLayout::Even(n, 1)),
                Each(kBytes / n * (n - 1)));
    EXPECT_THAT(SentByRank("direct", kAllToAll, GroupLayout::Even(n, 1)),
                Each(kBytes / n * (n - 1)));
  }
}

// 11 = 8 + 3: three ranks fold.
TEST(BytesSentTest, HalvingAndDoublingFoldsWhatExceedsAPowerOfTwo) {
  const GroupLayout layout = GroupLayout::Even(11, 1);
  EXPECT_EQ(SentByAll("halving_doubling", kAllReduce, layout),
            2 * (3 * kBytes + 7 * kBytes));
  EXPECT_EQ(SentByAll("halving_doubling", kReduceScatter, layout),
            3 * kBytes + 7 * kBytes + 3 * (kBytes / 11));
  EXPECT_EQ(SentByAll("halving_doubling", kAllGather, layout),
            3 * (kBytes / 11) + 7 * kBytes + 3 * (kBytes / 11 * 10));
}

TEST(BytesSentTest, AlongTreesAndChainsEveryHopCarriesTheBuffer) {
  for (const GroupLayout& layout :
       {GroupLayout::Even(1, 8), GroupLayout::Even(5, 4),
        GroupLayout::Uneven({3, 1, 4})}) {
    const int64_t hops = layout.num_ranks() - 1;
    EXPECT_EQ(SentByAll("tree", kAllReduce, layout), 2 * hops * kBytes);
    EXPECT_EQ(SentByAll("ring", kBroadcast, layout), hops * kBytes);
    EXPECT_EQ(SentByAll("ring", kReduce, layout), hops * kBytes);
  }
}

TEST(BytesSentTest, NoRankOfTwoTreesSendsMoreThanTwoBuffers) {
  for (const uint32_t num_servers : {2u, 6u, 16u, 64u}) {
    for (const int64_t sent :
         SentByRank("tree", kAllReduce, GroupLayout::Even(num_servers, 1))) {
      EXPECT_LE(sent, 2 * kBytes);
    }
  }
}

TEST(BytesSentTest, NvSwitchesAddUpAndCopy) {
  const GroupLayout server = GroupLayout::Even(1, 8, 4);
  EXPECT_THAT(SentByRank("nvls", kAllReduce, server),
              Each(kBytes + kBytes / 8));
  EXPECT_THAT(SentByRank("nvls", kReduceScatter, server), Each(kBytes));
  EXPECT_THAT(SentByRank("nvls", kAllGather, server), Each(kBytes / 8));
  EXPECT_THAT(SentByRank("simai_nvls", kAllReduce, server), Each(kBytes));
  // Each of 4 servers: 7 S up and S down through the NVSwitch; each of 3 edges
  // of a tree: S up and S down.
  EXPECT_EQ(SentByAll("nvls_tree", kAllReduce, GroupLayout::Even(4, 8, 1)),
            (4 * (7 + 1) + 2 * 3) * kBytes);
}

// 12 ranks on 3 servers: 9 times S to the heads and back, 3 times S to the
// fabric.
TEST(BytesSentTest, TheFabricAddsUp) {
  const GroupLayout layout = WithReducer(GroupLayout::Even(3, 4));
  EXPECT_EQ(SentByAll("collnet_direct", kAllReduce, layout),
            (2 * 9 + 3) * kBytes);
  EXPECT_EQ(SentByAll("collnet_chain", kAllReduce, layout),
            (2 * 9 + 3) * kBytes);
}

// 4 servers of 4: to 3 ranks of the server, 3 x 3 that relay, and 3 on the rail
// with the parts of 4.
TEST(BytesSentTest, PxnRelaysWithinTheServer) {
  EXPECT_THAT(SentByRank("pxn", kAllToAll, GroupLayout::Even(4, 4)),
              Each((3 + 9 + 3 * 4) * (kBytes / 16)));
}

TEST(BytesSentTest, ChunkingChangesNothing) {
  const GroupLayout layout = WithReducer(GroupLayout::Even(4, 4, 1));
  for (const CollectiveAlgorithm& algorithm : CollectiveAlgorithms()) {
    const Chunking whole = {.num_channels = 4};
    const Chunking cut = {.num_channels = 4,
                          .max_chunk = Bytes(kBytes / 100),
                          .slices_per_chunk = 3};
    if (algorithm.kind == kSendRecv || algorithm.name == "nvls" ||
        algorithm.name == "simai_nvls") {
      continue;
    }
    EXPECT_EQ(SentByRank(algorithm.name, algorithm.kind, layout, cut),
              SentByRank(algorithm.name, algorithm.kind, layout, whole))
        << Name(algorithm.kind) << " " << algorithm.name;
  }
}

}  // namespace
}  // namespace astra
