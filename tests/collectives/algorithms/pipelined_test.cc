#include "collectives/algorithms/pipelined.h"

#include "tests/collectives/algorithms/flows.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::Dependents;
using ::astra::testing::LowerBy;
using ::astra::testing::Request;
using ::astra::testing::Texts;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 10 bytes in chunks of at most 3 are 4 pieces.
TEST(PipelinedTest, PiecesFollowOneAnotherTwoAtATime) {
  const auto graph = LowerBy(
      "ring", Request(CollectiveKind::kBroadcast, 10, GroupLayout::Even(1, 3),
                      {.max_chunk = Bytes(3)}));
  EXPECT_THAT(Texts(*graph), ElementsAre("0>1 0:3B", "1>2 0:3B",  //
                                         "0>1 1:3B", "1>2 1:3B",  //
                                         "0>1 2:2B", "1>2 2:2B",  //
                                         "0>1 3:2B", "1>2 3:2B"));
  EXPECT_THAT(Dependents(*graph, 0), ElementsAre(1, 4));
  EXPECT_THAT(Dependents(*graph, 1), ElementsAre(5));
  EXPECT_THAT(Dependents(*graph, 4), ElementsAre(5));
  EXPECT_THAT(Dependents(*graph, 5), IsEmpty());
}

TEST(PipelinedTest, ChunksAreCutIntoSlices) {
  const auto graph = LowerBy(
      "ring", Request(CollectiveKind::kBroadcast, 10, GroupLayout::Even(1, 2),
                      {.max_chunk = Bytes(5), .slices_per_chunk = 2}));
  EXPECT_THAT(Texts(*graph),
              ElementsAre("0>1 0:3B", "0>1 1:3B", "0>1 2:2B", "0>1 3:2B"));
  EXPECT_THAT(Dependents(*graph, 0), IsEmpty());  // 4 slices are under way.
}

}  // namespace
}  // namespace astra
