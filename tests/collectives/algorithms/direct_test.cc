#include "collectives/algorithms/direct.h"

#include <vector>

#include "tests/collectives/algorithms/flows.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::Request;
using ::astra::testing::StatusIs;
using ::astra::testing::Texts;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DirectTest, RanksBeginWithTheirSuccessors) {
  const auto graph = ValueOrDie(LowerDirect(
      Request(CollectiveKind::kAllToAll, 7, GroupLayout::Even(1, 3))));
  EXPECT_THAT(Texts(*graph), ElementsAre("0>1 1:2B", "1>2 5:2B", "2>0 6:3B",  //
                                         "0>2 2:2B", "1>0 3:3B", "2>1 7:2B"));
}

TEST(DirectTest, AnAllToAllVSendsThePartsThatItWasGiven) {
  const auto layout =
      std::make_shared<const GroupLayout>(GroupLayout::Even(1, 2));
  const auto request =
      ValueOrDie(CollectiveRequest::AllToAllV({9, 5, 0, 9}, layout));
  EXPECT_THAT(Texts(*ValueOrDie(LowerDirect(request))),
              ElementsAre("0>1 1:5B", "1>0 2:0B"));
  const auto steps = ValueOrDie(DirectSteps(request)).steps;
  EXPECT_EQ(steps[0].flows[0].share, 1);  // Of bytes(), the most of a rank.
}

TEST(DirectTest, GathersToAndScattersFromTheRoot) {
  const auto by_root = [](CollectiveKind kind) {
    return ValueOrDie(
        Request(kind, 7, GroupLayout::Even(1, 3)).WithRoot(GroupRank(1)));
  };
  EXPECT_THAT(Texts(*ValueOrDie(LowerDirect(by_root(CollectiveKind::kGather)))),
              ElementsAre("2>1 2:2B", "0>1 0:3B"));
  EXPECT_THAT(
      Texts(*ValueOrDie(LowerDirect(by_root(CollectiveKind::kScatter)))),
      ElementsAre("1>2 2:2B", "1>0 0:3B"));
}

TEST(DirectTest, MessagesAreCutIntoChunks) {
  const auto graph = ValueOrDie(
      LowerDirect(Request(CollectiveKind::kSendRecv, 7, GroupLayout::Even(1, 2),
                          {.max_chunk = Bytes(3)})));
  EXPECT_THAT(Texts(*graph), ElementsAre("0>1 1:3B", "0>1 5:2B", "0>1 9:2B"));
}

TEST(DirectTest, RefusesMoreChunksThanCanBeNumbered) {
  EXPECT_THAT(LowerDirect(Request(CollectiveKind::kAllToAll, 1,
                                  GroupLayout::Even(1 << 16, 1))),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("direct all-to-all of 1B over 65536 ranks "
                                 "needs 1 x 4294967296 chunks")));
}

}  // namespace
}  // namespace astra
