// Traffic on small clusters, with times worked out by hand.

#include "astra-core/run/traffic_run.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "network-frontends/traffic/traffic_draw.h"
#include "tests/testing/matchers.h"
#include "tests/testing/topologies.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kPayload = 1000;
constexpr int64_t kHeader = 100;

// `num_gpus` servers of one GPU below a switch: 400 Gbps, 500 ns a link.
Topology Star(uint32_t num_gpus) {
  Drawing drawing(num_gpus, 1, 0, 1);
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) drawing.Cable(gpu, num_gpus);
  return drawing.Build();
}

TrafficRunRequest RequestOf(std::string_view patterns, Topology topology,
                            Fidelity fidelity) {
  TrafficRunRequest request{
      .traffic = ValueOrDie(DrawTraffic(ValueOrDie(ParsePatterns(patterns)),
                                        topology.num_gpus(), 1)),
      .topology = std::move(topology),
      .fidelity = fidelity,
      .network = {},
      .on_progress = nullptr};
  PacketOptions& packet = request.network.packet;
  packet = DefaultNetwork();
  packet.nic.payload = Bytes(kPayload);
  packet.nic.header = Bytes(kHeader);
  request.network.flow = FlowOptionsOf(packet);
  return request;
}

TrafficRunResult RunOf(const TrafficRunRequest& request) {
  TrafficRunResult result = ValueOrDie(RunTraffic(request));
  EXPECT_TRUE(result.run.status.ok()) << result.run.status;
  return result;
}

// Returns the time of `packets` whole packets on one link.
TimePs OnLink(int64_t packets) {
  return TransferTime(Bytes(packets * (kPayload + kHeader)), Gbps(400));
}

constexpr TimePs kLatency = Nanoseconds(2 * 500);

class TrafficRunTest : public ::testing::TestWithParam<Fidelity> {};

// The cable to the receiver carries all bytes, one packet after the other, and
// the first of them has crossed another link before.
TEST_P(TrafficRunTest, AnIncastOfEqualMessagesEndsWithTheLastByteOnTheCable) {
  constexpr int64_t kSenders = 5;
  const TrafficRunResult result = RunOf(
      RequestOf("incast:bytes=40kB,senders=5", Star(kSenders + 1), GetParam()));
  const TimePs expected = OnLink(kSenders * 40) + OnLink(1) + kLatency;
  EXPECT_NEAR(ToMicroseconds(result.run.result.stage_time),
              ToMicroseconds(expected), 1e-6);
  for (const TimePs finish : result.finish) {
    EXPECT_GE(ToMicroseconds(finish),
              ToMicroseconds(expected - OnLink(kSenders)));
    EXPECT_LE(finish, result.run.result.stage_time);
  }
}

// No two messages share a link in one direction.
TEST_P(TrafficRunTest, APermutationTakesTheTimeOfOneMessage) {
  const TrafficRunResult result =
      RunOf(RequestOf("permutation:bytes=40kB", Star(6), GetParam()));
  const TimePs expected = OnLink(40) + OnLink(1) + kLatency;
  for (const TimePs finish : result.finish) {
    EXPECT_NEAR(ToMicroseconds(finish), ToMicroseconds(expected), 1e-6);
  }
}

// Each rank sends and receives five messages over its one cable.
TEST_P(TrafficRunTest, AnAllToAllKeepsAllCablesBusy) {
  const TrafficRunResult result =
      RunOf(RequestOf("all-to-all:bytes=40kB", Star(6), GetParam()));
  const double expected = ToMicroseconds(OnLink(5 * 40) + OnLink(1) + kLatency);
  const double end = ToMicroseconds(result.run.result.stage_time);
  EXPECT_GE(end, expected - 1e-6);
  // Where packets of several senders meet at a receiver, another waits for
  // work.
  EXPECT_LE(end, 1.06 * expected);
}

// The second message of a pair neither waits for the first, which has a
// connection of its own, nor is it the first to arrive.
TEST_P(TrafficRunTest, MessagesStartWhenTheySay) {
  const TrafficRunResult result = RunOf(RequestOf(
      "permutation:bytes=4kB,shift=1+permutation:bytes=4kB,shift=1,start=50us",
      Star(2), GetParam()));
  const TimePs expected = OnLink(4) + OnLink(1) + kLatency;
  for (size_t i = 0; i < 4; ++i) {
    const TimePs start = i < 2 ? TimePs(0) : Microseconds(50);
    EXPECT_NEAR(ToMicroseconds(result.finish[i] - start),
                ToMicroseconds(expected), 1e-6);
  }
}

TEST_P(TrafficRunTest, ARunThatIsStoppedTellsWhatHadArrived) {
  TrafficRunRequest request = RequestOf(
      "permutation:bytes=4kB,shift=1+permutation:bytes=4kB,shift=1,start=50us",
      Star(2), GetParam());
  request.stop_at = Microseconds(20);
  const TrafficRunResult result = ValueOrDie(RunTraffic(request));
  EXPECT_THAT(result.run.status,
              StatusIs(absl::StatusCode::kAborted,
                       "stopped at 20.000 us of simulated time: 2 of 4 "
                       "messages had arrived"));
  EXPECT_NE(result.finish[1], TrafficRunResult::kNever);
  EXPECT_EQ(result.finish[2], TrafficRunResult::kNever);
}

TEST_P(TrafficRunTest, SaysThatMessagesOverADeadCableNeverArrive) {
  TrafficRunRequest request =
      RequestOf("permutation:bytes=4kB,shift=1", Star(2), GetParam());
  request.events.links = {
      {.time = {}, .a = NodeId(0), .b = NodeId(2), .rate_factor = 0}};
  const TrafficRunResult result = ValueOrDie(RunTraffic(request));
  EXPECT_THAT(result.run.status,
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("2 of 2 messages have not arrived; the "
                                 "network says: ")));
}

// The clock of a network in which nothing happens goes on to the end of time.
TEST_P(TrafficRunTest, AStuckRunEndsWithTheLastThingThatHappens) {
  TrafficRunRequest request =
      RequestOf("permutation:bytes=4kB,shift=1,start=5us", Star(2), GetParam());
  request.events.links = {{.time = Microseconds(2),
                           .a = NodeId(0),
                           .b = NodeId(2),
                           .rate_factor = 0}};
  request.events.reroute_delay = Microseconds(1);
  const RunResult run = ValueOrDie(RunTraffic(request)).run;
  EXPECT_THAT(run.status,
              StatusIs(absl::StatusCode::kInternal,
                       StartsWith("nothing is left to happen after 5.000 us, "
                                  "but 2 of 2 messages have not arrived; ")));
  EXPECT_EQ(run.network_time, Microseconds(5));
}

INSTANTIATE_TEST_SUITE_P(Networks, TrafficRunTest,
                         ::testing::Values(Fidelity::kFlow, Fidelity::kPacket),
                         [](const auto& named) {
                           return std::string(Name(named.param));
                         });

// 500 us without an acknowledgement, and twice that after the retry.
TEST(TrafficRunErrorsTest, ARunThatGivesUpEndsAsItDoes) {
  TrafficRunRequest request =
      RequestOf("permutation:bytes=4kB,shift=1", Star(2), Fidelity::kPacket);
  request.network.packet.error_rate = 1;
  request.network.packet.nic.retries = 1;
  const RunResult run = ValueOrDie(RunTraffic(request)).run;
  EXPECT_THAT(run.status,
              StatusIs(absl::StatusCode::kInternal,
                       "nothing is left to happen after 1500.000 us, but 2 of "
                       "2 messages have not arrived; the network says: GPU 0 "
                       "to GPU 1: given up after 1 retries"));
  EXPECT_EQ(run.network_time, Microseconds(1500));
}

// GPUs 0 and 1 are joined to 2 only, which passes nothing on.
TEST(TrafficRunErrorsTest, ThereMustBeAPath) {
  Drawing drawing(3, 1, 0, 0);
  drawing.Cable(0, 2).Cable(1, 2);
  EXPECT_THAT(RunTraffic(RequestOf("permutation:bytes=1B,shift=1",
                                   drawing.Build(), Fidelity::kFlow)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no path leads from")));
}

TEST(TrafficRunErrorsTest, AnErrorOfTheWatchEndsTheRun) {
  TrafficRunRequest request =
      RequestOf("permutation:bytes=1MB", Star(4), Fidelity::kPacket);
  request.on_progress = [](const RunProgress&) {
    return absl::AbortedError("enough");
  };
  EXPECT_THAT(ValueOrDie(RunTraffic(request)).run.status,
              StatusIs(absl::StatusCode::kAborted, "enough"));
}

}  // namespace
}  // namespace astra::testing
