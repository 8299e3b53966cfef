#include "collectives/collective_request.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

std::shared_ptr<const GroupLayout> Flat(uint32_t num_ranks) {
  return std::make_shared<GroupLayout>(GroupLayout::Even(num_ranks, 1));
}

CollectiveRequest Request(CollectiveKind kind, Bytes bytes,
                          uint32_t num_ranks) {
  return ValueOrDie(CollectiveRequest::Create(kind, bytes, Flat(num_ranks)));
}

auto IsInvalid(const char* message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, message);
}

TEST(CollectiveRequestTest, HoldsWhatWasAskedFor) {
  const auto layout = std::make_shared<GroupLayout>(GroupLayout::Even(2, 4));
  const CollectiveRequest request = ValueOrDie(
      CollectiveRequest::Create(CollectiveKind::kAllGather, KiB(3), layout));
  EXPECT_EQ(request.kind(), CollectiveKind::kAllGather);
  EXPECT_EQ(request.bytes(), KiB(3));
  EXPECT_EQ(request.num_ranks(), 8u);
  EXPECT_EQ(request.layout(), *layout);
  EXPECT_EQ(request.chunking(), Chunking());
  EXPECT_EQ(request.root(), GroupRank(0));
}

TEST(CollectiveRequestTest, RefusesAGroupOfOne) {
  EXPECT_THAT(
      CollectiveRequest::Create(CollectiveKind::kAllReduce, KiB(1), Flat(1)),
      IsInvalid(
          "all-reduce over 1 rank(s): the group must have 2 to 16777216"));
}

TEST(CollectiveRequestTest, RefusesASendBetweenThree) {
  EXPECT_THAT(
      CollectiveRequest::Create(CollectiveKind::kSendRecv, KiB(1), Flat(3)),
      IsInvalid("send-recv over 3 rank(s): the group must have 2"));
}

TEST(CollectiveRequestTest, RefusesAnEmptyBuffer) {
  EXPECT_THAT(
      CollectiveRequest::Create(CollectiveKind::kAllGather, Bytes(0), Flat(2)),
      IsInvalid("all-gather of 0B: the buffer must hold at least 1B"));
}

// Three ranks that send 2^62 bytes each.
TEST(CollectiveRequestTest, RefusesBuffersThatTogetherExceedAnInteger) {
  EXPECT_THAT(
      CollectiveRequest::Create(CollectiveKind::kAllToAll,
                                Bytes(int64_t{1} << 62), Flat(3)),
      IsInvalid("all-to-all over 3 ranks: what all send together must be at "
                "most 9223372036854775807B"));
}

TEST(CollectiveRequestTest, TheFirstPartsTakeTheRest) {
  const CollectiveRequest request =
      Request(CollectiveKind::kAllGather, Bytes(8), 3);
  EXPECT_EQ(request.Part(GroupRank(0)), (ByteRange{0, 3}));
  EXPECT_EQ(request.Part(GroupRank(1)), (ByteRange{3, 6}));
  EXPECT_EQ(request.Part(GroupRank(2)), (ByteRange{6, 8}));
}

TEST(CollectiveRequestTest, PairPartsAreOrderedBySenderThenReceiver) {
  const CollectiveRequest all = Request(CollectiveKind::kAllToAll, Bytes(8), 3);
  const CollectiveRequest pair =
      Request(CollectiveKind::kSendRecv, Bytes(8), 2);
  const CollectiveRequest uneven = ValueOrDie(
      CollectiveRequest::AllToAllV({9, 1, 2, 3, 9, 0, 5, 6, 9}, Flat(3)));
  for (const auto& [request, total] :
       {std::pair(all, 24), std::pair(pair, 8), std::pair(uneven, 17)}) {
    int64_t end = 0;
    for (uint32_t i = 0; i < request.num_ranks(); ++i) {
      for (uint32_t j = 0; j < request.num_ranks(); ++j) {
        const ByteRange part = request.PairPart(GroupRank(i), GroupRank(j));
        EXPECT_EQ(part.begin, end);
        end = part.end;
      }
    }
    EXPECT_EQ(end, total);
  }
  EXPECT_EQ(all.PairPart(GroupRank(1), GroupRank(0)), (ByteRange{8, 11}));
  EXPECT_EQ(pair.PairPart(GroupRank(0), GroupRank(1)), (ByteRange{0, 8}));
  EXPECT_EQ(uneven.PairPart(GroupRank(2), GroupRank(0)), (ByteRange{6, 11}));
}

// Rank 0 sends 3 and receives 8; rank 1 sends 3 and receives 7; rank 2 sends 11
// and receives 2.
TEST(CollectiveRequestTest, AnAllToAllVIsAsLargeAsItsBusiestRank) {
  const CollectiveRequest request = ValueOrDie(
      CollectiveRequest::AllToAllV({9, 1, 2, 3, 9, 0, 5, 6, 9}, Flat(3)));
  EXPECT_EQ(request.kind(), CollectiveKind::kAllToAll);
  EXPECT_EQ(request.bytes(), Bytes(11));
}

TEST(CollectiveRequestTest, RefusesSizesThatMakeNoAllToAllV) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(
      CollectiveRequest::AllToAllV({1, 2, 3}, Flat(2)),
      IsInvalid("3 size(s) for an all-to-all over 2 ranks: expected 4"));
  EXPECT_THAT(CollectiveRequest::AllToAllV({0, 1, -2, 0}, Flat(2)),
              IsInvalid("rank 1 sends -2B to rank 0: expected at least 0B"));
  EXPECT_THAT(CollectiveRequest::AllToAllV({7, 0, 0, 7}, Flat(2)),
              IsInvalid("all-to-all: no rank sends anything to another"));
  EXPECT_THAT(
      CollectiveRequest::AllToAllV({0, kMost, 1, 0}, Flat(2)),
      IsInvalid("all-to-all over 2 ranks: what all send together must be at "
                "most 9223372036854775807B"));
  EXPECT_THAT(
      CollectiveRequest::AllToAllV({1}, Flat(1)),
      IsInvalid(
          "all-to-all over 1 rank(s): the group must have 2 to 16777216"));
}

TEST(CollectiveRequestTest, ChunkingAndRootAreChecked) {
  const CollectiveRequest request =
      Request(CollectiveKind::kBroadcast, KiB(1), 4);
  const Chunking chunking = {
      .num_channels = 64, .max_chunk = KiB(1), .slices_per_chunk = 2};
  EXPECT_EQ(ValueOrDie(request.With(chunking)).chunking(), chunking);
  EXPECT_EQ(ValueOrDie(request.WithRoot(GroupRank(3))).root(), GroupRank(3));

  EXPECT_THAT(request.With({.num_channels = 65}),
              IsInvalid("65 channels: expected at most 64"));
  EXPECT_THAT(request.With({.max_chunk = Bytes(-1)}),
              IsInvalid("chunks of -1B: expected at least 0B"));
  EXPECT_THAT(request.With({.slices_per_chunk = 0}),
              IsInvalid("0 slice(s) per chunk: expected 1 to 64"));
  EXPECT_THAT(request.With({.slices_per_chunk = 65}),
              IsInvalid("65 slice(s) per chunk: expected 1 to 64"));
  EXPECT_THAT(request.WithRoot(GroupRank(4)),
              IsInvalid("root 4: expected a rank from 0 to 3"));
}

}  // namespace
}  // namespace astra
