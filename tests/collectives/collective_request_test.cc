#include "collectives/collective_request.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

GroupShape Flat(uint32_t num_ranks) {
  return {.num_ranks = num_ranks, .ranks_per_server = 1};
}

TEST(CollectiveRequestTest, HoldsWhatWasAskedFor) {
  const CollectiveRequest request = ValueOrDie(
      CollectiveRequest::Create(CollectiveKind::kAllGather, KiB(3),
                                {.num_ranks = 8, .ranks_per_server = 4}));
  EXPECT_EQ(request.kind(), CollectiveKind::kAllGather);
  EXPECT_EQ(request.bytes(), KiB(3));
  EXPECT_EQ(request.num_ranks(), 8u);
  EXPECT_EQ(request.shape().num_servers(), 2u);
}

TEST(CollectiveRequestTest, RefusesAGroupOfOne) {
  EXPECT_THAT(
      CollectiveRequest::Create(CollectiveKind::kAllReduce, KiB(1), Flat(1)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "all-reduce over 1 rank(s): the group must have 2 to 16777216"));
}

TEST(CollectiveRequestTest, RefusesASendBetweenThree) {
  EXPECT_THAT(
      CollectiveRequest::Create(CollectiveKind::kSendRecv, KiB(1), Flat(3)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "send-recv over 3 rank(s): the group must have 2 to 2"));
}

TEST(CollectiveRequestTest, RefusesAnEmptyBuffer) {
  EXPECT_THAT(
      CollectiveRequest::Create(CollectiveKind::kAllGather, Bytes(0), Flat(2)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "all-gather of 0B: the buffer must hold at least 1B"));
}

}  // namespace
}  // namespace astra
