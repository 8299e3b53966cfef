#include "astra-core/engine/custom_collectives.h"

#include <utility>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

// Both ranks give all they have to the other.
CustomCollective Exchange(CollectiveKind kind, uint32_t num_chunks,
                          uint32_t root = 0) {
  const ChunkedCollective collective = {
      .kind = kind, .num_ranks = 2, .num_chunks = num_chunks, .root = root};
  return {.file = "exchange.yaml",
          .schedule =
              ValueOrDie(CustomSchedule::Create("exchange", collective, {})),
          .one_server = {},
          .several_servers = {}};
}

TEST(CustomCollectivesTest, FitsItsKindRanksAndBytes) {
  CustomCollective custom = Exchange(CollectiveKind::kAllReduce, 2);
  custom.min_bytes = Bytes(100);
  custom.max_bytes = Bytes(200);
  EXPECT_TRUE(custom.Fits(CollectiveKind::kAllReduce, 2, Bytes(100)));
  EXPECT_TRUE(custom.Fits(CollectiveKind::kAllReduce, 2, Bytes(200)));
  EXPECT_FALSE(custom.Fits(CollectiveKind::kAllReduce, 2, Bytes(99)));
  EXPECT_FALSE(custom.Fits(CollectiveKind::kAllReduce, 2, Bytes(201)));
  EXPECT_FALSE(custom.Fits(CollectiveKind::kAllReduce, 4, Bytes(100)));
  EXPECT_FALSE(custom.Fits(CollectiveKind::kAllGather, 2, Bytes(100)));
}

TEST(CustomCollectivesTest, AnAllToAllCarriesTokensOfExperts) {
  const CustomCollective custom = Exchange(CollectiveKind::kAllToAll, 4);
  EXPECT_TRUE(custom.Fits(CollectiveKind::kAllToAll, 2, Bytes(1)));
  EXPECT_TRUE(custom.Fits(CollectiveKind::kDispatch, 2, Bytes(1)));
  EXPECT_TRUE(custom.Fits(CollectiveKind::kCombine, 2, Bytes(1)));
  EXPECT_FALSE(custom.Fits(CollectiveKind::kSendRecv, 2, Bytes(1)));
}

TEST(CustomCollectivesTest, ARootOtherThanTheFirstRankFitsNothing) {
  EXPECT_TRUE(Exchange(CollectiveKind::kBroadcast, 1)
                  .Fits(CollectiveKind::kBroadcast, 2, Bytes(1)));
  EXPECT_FALSE(Exchange(CollectiveKind::kBroadcast, 1, 1)
                   .Fits(CollectiveKind::kBroadcast, 2, Bytes(1)));
}

TEST(CustomCollectivesTest, TheFirstThatFitsIsUsed) {
  std::vector<CustomCollective> all = {Exchange(CollectiveKind::kAllGather, 2),
                                       Exchange(CollectiveKind::kAllReduce, 2),
                                       Exchange(CollectiveKind::kAllReduce, 2)};
  all[1].max_bytes = Bytes(10);
  const auto find = [&](CollectiveKind kind, int64_t bytes) {
    return FindCustom(all, kind, 2, Bytes(bytes));
  };
  EXPECT_EQ(find(CollectiveKind::kAllReduce, 10), &all[1]);
  EXPECT_EQ(find(CollectiveKind::kAllReduce, 11), &all[2]);
  EXPECT_EQ(find(CollectiveKind::kReduceScatter, 11), nullptr);
}

}  // namespace
}  // namespace astra
