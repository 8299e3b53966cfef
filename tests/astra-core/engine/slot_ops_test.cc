#include "astra-core/engine/slot_ops.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Op Compute(int64_t us) {
  return {.kind = OpKind::kCompute, .compute = Microseconds(us)};
}

Op Exchange(int64_t bytes,
            ParallelDimension dimension = ParallelDimension::kExpert) {
  return {
      .kind = OpKind::kBlocking,
      .lane = LaneOf(dimension),
      .communication = {CollectiveKind::kAllToAll, dimension, Bytes(bytes)}};
}

Op Launch(int64_t bytes,
          ParallelDimension dimension = ParallelDimension::kExpert) {
  Op op = Exchange(bytes, dimension);
  op.kind = OpKind::kLaunch;
  return op;
}

Op Wait(uint32_t outstanding = 0,
        ParallelDimension dimension = ParallelDimension::kExpert) {
  return {.kind = OpKind::kWait,
          .lane = LaneOf(dimension),
          .outstanding = outstanding};
}

// "C10", "B4", "L4" and "W4 1": computation in us; a blocking exchange, its
// start, and the wait for it with the calls that may be left, in bytes. A prime
// marks the second list.
std::vector<std::string> Text(const std::vector<Op>& ops) {
  std::vector<std::string> texts;
  for (const Op& op : ops) {
    std::string text(1, "CBLW"[static_cast<int>(op.kind)]);
    text += fmt::format("{}", op.kind == OpKind::kCompute
                                  ? op.compute.count() / 1'000'000
                                  : op.communication.bytes.count());
    if (op.chunk == 1) text += "'";
    if (op.kind == OpKind::kWait) text += fmt::format(" {}", op.outstanding);
    texts.push_back(text);
  }
  return texts;
}

TEST(SideBySideTest, EachComputesWhileTheOtherExchanges) {
  EXPECT_THAT(
      Text(SideBySide({{Compute(10), Exchange(1), Compute(11), Exchange(2)}},
                      {{Exchange(3), Compute(20), Exchange(4), Compute(21)}})),
      ElementsAre("L3'",                   // The second list exchanges sooner.
                  "C10", "L1",             // Exchange 3 goes on meanwhile.
                  "W3' 1", "C20'", "L4'",  // Exchange 1 does.
                  "W1 1", "C11", "L2",     //
                  "W4' 1", "C21'",         // The second list ends.
                  "W2 0"));
}

// The dispatch of each list runs behind computation of its own, as with shared
// experts that overlap, and then behind that of the other list.
TEST(SideBySideTest, AWaitForWhatWasLaunchedLetsTheOtherGoOn) {
  const std::vector<Op> ops = {Launch(1), Compute(5), Wait(), Compute(7)};
  EXPECT_THAT(Text(SideBySide(ops, ops)),
              ElementsAre("L1", "C5",    //
                          "L1'", "C5'",  //
                          "W0 1", "C7",  // Exchange 1' may be left.
                          "W0' 0", "C7'"));
}

// Each list waits for the first of its two prefetches on the lane DP. The other
// list's prefetches lie behind it or between them.
TEST(SideBySideTest, NoListWaitsForLaterCallsOfTheOther) {
  constexpr ParallelDimension kDp = ParallelDimension::kData;
  const std::vector<Op> ops = {Launch(1, kDp), Exchange(2), Launch(3, kDp),
                               Wait(1, kDp), Exchange(4)};
  EXPECT_THAT(Text(SideBySide(ops, ops)),
              ElementsAre("L1", "L2",    //
                          "L1'", "L2'",  //
                          // Exchange 2' may be left. So may 1' and 3.
                          "W2 1", "L3", "W0 2", "L4",
                          // Prefetches 3 and 3' may be left.
                          "W2' 1", "L3'", "W0' 2", "L4'",  //
                          "W4 1", "W4' 0"));
}

// Nothing of the lists is on the lane DP: both wait for what was launched
// before, of which the second list may leave one call.
TEST(SideBySideTest, WaitsForCallsBeforeThePairStayTheSame) {
  constexpr ParallelDimension kDp = ParallelDimension::kData;
  EXPECT_THAT(
      Text(SideBySide({{Exchange(1), Wait(0, kDp)}},
                      {{Launch(2, kDp), Exchange(3), Wait(2, kDp)}})),
      ElementsAre("L1", "L2'", "L3'", "W1 1", "W0 1", "W3' 0", "W0' 2"));
}

// Returns the time of operations in us, on one stream of computation and lanes
// that are first in, first out. Calls take as many us as they have bytes.
int64_t Duration(const std::vector<Op>& ops) {
  int64_t now = 0;
  std::map<LaneId, std::vector<int64_t>> ends;  // Ends of each lane's calls.
  for (const Op& op : ops) {
    std::vector<int64_t>& lane = ends[op.lane];
    if (op.kind == OpKind::kBlocking || op.kind == OpKind::kLaunch) {
      const int64_t start = lane.empty() ? now : std::max(now, lane.back());
      lane.push_back(start + op.communication.bytes.count());
    }
    if (op.kind == OpKind::kCompute) {
      now += op.compute.count() / 1'000'000;
    } else if (op.kind != OpKind::kLaunch && op.outstanding < lane.size()) {
      now = std::max(now, lane[lane.size() - 1 - op.outstanding]);
    }
  }
  return now;
}

std::vector<Op> RandomOps(std::mt19937_64& random) {
  std::vector<Op> ops;
  for (size_t i = random() % 12; i-- > 0;) {
    const auto size = static_cast<int64_t>(random() % 20);
    switch (random() % 4) {
      case 0:
        ops.push_back(Exchange(size));
        break;
      case 1:
        ops.push_back(Exchange(size, ParallelDimension::kTensor));
        break;
      default:
        ops.push_back(Compute(size));
    }
  }
  return ops;
}

TEST(SideBySideTest, TakesNoLongerThanOneAfterTheOther) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1000; ++round) {
    const std::vector<Op> first = RandomOps(random);
    const std::vector<Op> second = RandomOps(random);
    const std::vector<Op> both = SideBySide(first, second);
    TimePs compute;
    for (const Op& op : both) compute += op.compute;
    EXPECT_LE(Duration(both), Duration(first) + Duration(second));
    EXPECT_GE(Microseconds(Duration(both)), compute);
  }
}

// A forward of 10 us and an exchange of 4, beside a backward of an exchange of
// 6 and 20 us: the times of the exchanges are those of computation beside them.
TEST(SideBySideTest, HidesExchangesBehindEnoughComputation) {
  EXPECT_EQ(Duration(SideBySide({{Compute(10), Exchange(4)}},
                                {{Exchange(6), Compute(20)}})),
            10 + 20);
  // Exchange 6 is the last, with nothing left to compute.
  EXPECT_EQ(Duration(SideBySide({{Compute(10), Exchange(4)}},
                                {{Compute(20), Exchange(6)}})),
            10 + 20 + 6);
  EXPECT_EQ(Duration(SideBySide({{Compute(10), Exchange(40)}},
                                {{Exchange(60), Compute(20)}})),
            60 + 40);
}

TEST(SideBySideTest, NothingIsHiddenBehindAListThatHasEnded) {
  EXPECT_THAT(Text(SideBySide({{Compute(10)}}, {{Exchange(3), Compute(20)}})),
              ElementsAre("L3'", "C10", "W3' 0", "C20'"));
  EXPECT_THAT(Text(SideBySide({{Compute(10), Exchange(3)}}, {{Compute(20)}})),
              ElementsAre("C10", "L3", "C20'", "W3 0"));
  EXPECT_THAT(Text(SideBySide({{Exchange(1), Compute(10)}},
                              {{Compute(20), Exchange(3)}})),
              ElementsAre("L1", "C20'", "L3'", "W1 1", "C10", "W3' 0"));
  EXPECT_THAT(Text(SideBySide({{Exchange(1)}}, {{Exchange(2), Exchange(3)}})),
              ElementsAre("L1", "L2'", "W1 1", "W2' 0", "B3'"));
  EXPECT_THAT(Text(SideBySide({}, {{Exchange(3)}})), ElementsAre("B3'"));
  EXPECT_THAT(SideBySide({}, {}), IsEmpty());
}

TEST(SideBySideTest, OtherCollectivesBlock) {
  EXPECT_THAT(
      Text(SideBySide({{Exchange(1, ParallelDimension::kTensor), Compute(10)}},
                      {{Compute(20)}})),
      ElementsAre("B1", "C10", "C20'"));
  EXPECT_FALSE(WaitsForExperts({{Exchange(1, ParallelDimension::kTensor)}}));
  EXPECT_FALSE(WaitsForExperts({{Launch(1)}}));
  EXPECT_TRUE(WaitsForExperts({{Launch(1), Wait()}}));
  EXPECT_TRUE(WaitsForExperts({{Compute(1), Exchange(1)}}));
}

}  // namespace
}  // namespace astra
