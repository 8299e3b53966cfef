#include "workload/traces/deadlock.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/workload/traces/trace_drawing.h"

namespace astra::testing {
namespace {

constexpr auto kSend = TraceNodeKind::kSend;
constexpr auto kReceive = TraceNodeKind::kReceive;

std::string ErrorOf(TraceDrawing& drawing) {
  ExecutionTrace& trace = drawing.trace();
  for (size_t r = 0; r < trace.ranks.size(); ++r) {
    trace.ranks[r].file = fmt::format("t.{}.et", r);
  }
  EXPECT_EQ(CheckRanksAgree(trace), absl::OkStatus());
  const absl::Status status = CheckEnds(trace);
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status));
  return std::string(status.message());
}

TEST(DeadlockTest, ASumBeforeAMessageAndTheOtherWayRoundIsACircle) {
  TraceDrawing drawing(2);
  drawing.Name("sum");
  drawing.Sum(0, 8);
  drawing.Name("send");
  drawing.Message(0, kSend, 1, 0, 8, {0});
  drawing.Name("get");
  drawing.Message(1, kReceive, 0, 0, 8);
  drawing.Name("sum");
  drawing.Sum(1, 8, {0});
  EXPECT_EQ(ErrorOf(drawing),
            "ranks wait for one another in a circle: rank 0 (t.0.et): node 1 "
            "(send) waits for node 0 (sum), in which rank 1 is missing; rank 1 "
            "(t.1.et): node 1 (sum) waits for node 0 (get), in which rank 0 is "
            "missing");
}

TEST(DeadlockTest, MessagesBothWaysThatNeedNoOrderEnd) {
  TraceDrawing drawing(2);
  for (const uint32_t rank : {0U, 1U}) {
    drawing.Message(rank, kSend, 1 - rank, 0, 8);
    drawing.Message(rank, kReceive, 1 - rank, 0, 8);
    drawing.Sum(rank, 8, {0, 1});
  }
  EXPECT_EQ(ErrorOf(drawing), "");
}

// The first kernel waits for a message, and so do the second one, though it
// needs nothing, and what is behind it.
TEST(DeadlockTest, TheOrderOfKernelsHoldsBackWhatIsBehindThem) {
  for (const bool has_kernel : {true, false}) {
    TraceDrawing drawing(2);
    for (const uint32_t rank : {0U, 1U}) {
      const uint32_t got = drawing.Message(rank, kReceive, 1 - rank, 0, 8);
      if (has_kernel) drawing.Kernel(rank, 1, {got});
      const uint32_t kernel = drawing.Kernel(rank, 1);
      drawing.Message(rank, kSend, 1 - rank, 0, 8, {kernel});
    }
    EXPECT_EQ(ErrorOf(drawing),
              has_kernel
                  ? "ranks wait for one another in a circle: rank 0 (t.0.et): "
                    "node 3 (n) waits for node 0 (n), in which rank 1 is "
                    "missing; rank 1 (t.1.et): node 3 (n) waits for node 0 "
                    "(n), in which rank 0 is missing"
                  : "");
  }
}

// Ranks 0, 1 and 2 wait in a ring, and ranks 2 and 3 for one another.
TEST(DeadlockTest, TheShortestCircleIsNamed) {
  TraceDrawing drawing(4);
  for (const uint32_t rank : {0U, 1U, 2U}) {
    const uint32_t got = drawing.Message(rank, kReceive, (rank + 2) % 3, 0, 8);
    drawing.Message(rank, kSend, (rank + 1) % 3, 0, 8, {got});
  }
  for (const uint32_t rank : {2U, 3U}) {
    const uint32_t got = drawing.Message(rank, kReceive, 5 - rank, 1, 8);
    drawing.Message(rank, kSend, 5 - rank, 1, 8, {got});
  }
  EXPECT_EQ(ErrorOf(drawing),
            "ranks wait for one another in a circle: rank 2 (t.2.et): node 3 "
            "(n) waits for node 2 (n), in which rank 3 is missing; rank 3 "
            "(t.3.et): node 1 (n) waits for node 0 (n), in which rank 2 is "
            "missing");
}

TEST(DeadlockTest, OfALongCircleTheBeginningIsNamed) {
  TraceDrawing drawing(20);
  for (uint32_t rank = 0; rank < 20; ++rank) {
    const uint32_t got = drawing.Message(rank, kReceive, (rank + 1) % 20, 0, 8);
    drawing.Message(rank, kSend, (rank + 19) % 20, 0, 8, {got});
  }
  const std::string error = ErrorOf(drawing);
  EXPECT_TRUE(error.starts_with(
      "ranks wait for one another in a circle: rank 0 (t.0.et): node 1 (n) "
      "waits for node 0 (n), in which rank 1 is missing; rank 1 (t.1.et): "))
      << error;
  EXPECT_TRUE(error.ends_with(
      "; rank 7 (t.7.et): node 1 (n) waits for node 0 (n), in which rank 8 is "
      "missing; and 12 ranks more"))
      << error;
}

// Behind the circle of ranks 0 and 1 there is a shorter way round, which no
// rank comes to: what stops the trace is named.
TEST(DeadlockTest, OnlyWhatRanksHaveBegunCounts) {
  TraceDrawing drawing(3);
  for (const uint32_t rank : {0U, 1U, 2U}) {
    const uint32_t got = drawing.Message(rank, kReceive, (rank + 2) % 3, 0, 8);
    drawing.Message(rank, kSend, (rank + 1) % 3, 0, 8, {got});
  }
  for (const uint32_t rank : {0U, 1U}) {
    const uint32_t got = drawing.Message(rank, kReceive, 1 - rank, 1, 8, {1});
    drawing.Message(rank, kSend, 1 - rank, 1, 8, {got});
  }
  EXPECT_EQ(ErrorOf(drawing),
            "ranks wait for one another in a circle: rank 0 (t.0.et): node 1 "
            "(n) waits for node 0 (n), in which rank 2 is missing; rank 2 "
            "(t.2.et): node 1 (n) waits for node 0 (n), in which rank 1 is "
            "missing; rank 1 (t.1.et): node 1 (n) waits for node 0 (n), in "
            "which rank 0 is missing");
}

}  // namespace
}  // namespace astra::testing
