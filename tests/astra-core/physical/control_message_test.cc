#include "astra-core/physical/control_message.h"

#include <string>
#include <variant>

#include "astra-core/physical/clock_offset.h"
#include "astra-core/physical/data_frame.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

TEST(ControlMessageTest, ReadsWhatItWrites) {
  const JoinMessage join{.rank = RankId(3),
                         .num_ranks = 8,
                         .digest = "d",
                         .host = "node1",
                         .boot = "b",
                         .address = "10.0.0.1",
                         .port = 4000};
  const auto read =
      std::get<JoinMessage>(ValueOrDie(ParseControlMessage(Encode(join))));
  EXPECT_EQ(read.rank, RankId(3));
  EXPECT_EQ(read.num_ranks, 8u);
  EXPECT_EQ(read.address, "10.0.0.1");
  EXPECT_EQ(read.port, 4000);

  RankReport report;
  report.finish = TimePs(9);
  report.exposed[1] = TimePs(4);
  report.collectives = {
      {.communicator = 1,
       .number = 2,
       .layer = LayerId(3),
       .phase = kPhases[1],
       .communication = {CollectiveKind::kAllToAll, ParallelDimension::kExpert,
                         Bytes(77)},
       .joined = TimePs(5),
       .result = TimePs(6)},
      {.joined = TimePs(7), .result = TimePs(7)}};
  const auto back = std::get<ReportMessage>(ValueOrDie(ParseControlMessage(
      Encode(ReportMessage{.iteration = 4, .report = report}))));
  EXPECT_EQ(back.iteration, 4u);
  EXPECT_EQ(back.report, report);
}

// A rank must not be able to have others make room for what does not follow.
TEST(ControlMessageTest, RefusesEveryPartOfAMessage) {
  RankReport report;
  report.collectives.resize(2);
  const std::string whole =
      Encode(ReportMessage{.iteration = 1, .report = report});
  ASSERT_TRUE(ParseControlMessage(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseControlMessage(whole.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(ParseControlMessage(whole + "x").ok());
  EXPECT_FALSE(ParseControlMessage("\x63").ok());
}

TEST(ControlMessageTest, AResultIsNotThereBeforeItsRankHasJoined) {
  RankReport report;
  report.collectives = {{.joined = TimePs(7), .result = TimePs(6)}};
  EXPECT_EQ(ParseControlMessage(Encode(ReportMessage{.report = report}))
                .status()
                .message(),
            "what arrived is no message of a run");
}

TEST(DataFrameTest, ReadsWhatItWrites) {
  const DataFrame frame{.iteration = 1,
                        .communicator = 2,
                        .number = 3,
                        .flow = FlowId(uint64_t{1} << 40),
                        .bytes = Bytes(5)};
  const std::string bytes = Encode(frame);
  ASSERT_EQ(bytes.size(), DataFrame::kBytes);
  EXPECT_EQ(ValueOrDie(ParseDataFrame(bytes)), frame);
  EXPECT_FALSE(ParseDataFrame(std::string(DataFrame::kBytes, 'x')).ok());
  EXPECT_FALSE(ParseDataFrame(Encode(DataFrame{.bytes = Bytes(-1)})).ok());
}

// The shortest round trip counts: an answer that came at once, by a clock that
// is 1000 ns ahead, after others that were late on their way there or back.
TEST(ClockOffsetTest, TakesTheShortestRoundTrip) {
  using std::chrono::nanoseconds;
  ClockOffset clock;
  clock.Add(nanoseconds(0), nanoseconds(1190), nanoseconds(200));
  clock.Add(nanoseconds(300), nanoseconds(1310), nanoseconds(320));
  clock.Add(nanoseconds(400), nanoseconds(1410), nanoseconds(900));
  EXPECT_EQ(clock.offset(), nanoseconds(1000));
  EXPECT_EQ(clock.round_trip(), nanoseconds(20));
}

}  // namespace
}  // namespace astra::testing
