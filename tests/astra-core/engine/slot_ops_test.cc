#include "astra-core/engine/slot_ops.h"

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
      ElementsAre("C10", "L1",          // The second list begins:
                  "L3'",                // it has nothing to compute yet.
                  "W1 1", "C11", "L2",  // Exchange 3 goes on meanwhile.
                  "W3' 1", "C20'", "L4'",
                  "W2 1",  // The first list ends.
                  "W4' 0", "C21'"));
}

TEST(SideBySideTest, NothingIsHiddenBehindAListThatHasEnded) {
  EXPECT_THAT(Text(SideBySide({{Compute(10)}}, {{Exchange(3), Compute(20)}})),
              ElementsAre("C10", "B3'", "C20'"));
  EXPECT_THAT(Text(SideBySide({}, {{Exchange(3)}})), ElementsAre("B3'"));
  EXPECT_THAT(SideBySide({}, {}), IsEmpty());
}

TEST(SideBySideTest, OtherCollectivesBlock) {
  EXPECT_THAT(
      Text(SideBySide({{Exchange(1, ParallelDimension::kTensor), Compute(10)}},
                      {{Compute(20)}})),
      ElementsAre("B1", "C10", "C20'"));
  EXPECT_FALSE(WaitsForExperts({{Exchange(1, ParallelDimension::kTensor)}}));
  EXPECT_TRUE(WaitsForExperts({{Compute(1), Exchange(1)}}));
}

}  // namespace
}  // namespace astra
