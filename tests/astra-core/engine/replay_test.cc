// Collectives that are counted again give what simulating each of them gives.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/engine/message_log.h"
#include "astra-core/engine/simulation.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "network-frontends/flow/flow_backend.h"
#include "network-frontends/packet/packet_backend.h"
#include "tests/astra-core/engine/pipelined_runs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/topologies.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

using ::astra::testing::Drawing;
using ::astra::testing::OneServer;
using ::astra::testing::PipelinedProgram;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::Star;
using ::astra::testing::ValueOrDie;

// Lists messages with the number of their collective.
class AllMessages final : public MessageLog {
 public:
  using Line = std::tuple<TimePs, TimePs, NodeId, NodeId, uint32_t, Bytes,
                          TimePs, std::vector<LinkId>, uint32_t>;

  void BeginNetwork() override { lines_.clear(); }
  void EndNetwork(TimePs /*now*/) override {
    std::sort(lines_.begin(), lines_.end());
  }
  void BeginCollective(uint32_t, const CollectiveRecord&) override {}
  void EndCollective(uint32_t) override {}
  void Arrive(const FlowRecord& message, absl::Span<const LinkId> path,
              uint32_t collective) override {
    EXPECT_GE(message.finish, settled_);
    lines_.push_back({message.finish,
                      message.start,
                      message.source,
                      message.target,
                      message.channel,
                      message.bytes,
                      message.ideal,
                      {path.begin(), path.end()},
                      collective});
  }
  void Repeat(const RepeatedMessages& messages, uint32_t collective) override {
    uint64_t count = 0;
    for (size_t i = 0; i < messages.sequence->items.size(); ++i) {
      const MessageSequence::Item& item = messages.sequence->items[i];
      FlowRecord message;
      const Connection& connection = messages.connections[item.connection];
      message.source = connection.source;
      message.target = connection.target;
      message.channel = connection.channel;
      message.bytes = item.bytes;
      message.ideal = item.ideal;
      std::vector<LinkId> path;
      messages.append_path(connection, &path);
      for (const TimePs later : messages.sequence->DelaysOf(i)) {
        message.start = messages.begin + item.start + later;
        message.finish = messages.begin + item.finish + later;
        Arrive(message, path, collective);
        ++count;
      }
    }
    EXPECT_EQ(count, messages.sequence->num_messages);
  }
  void Settle(TimePs until) override { settled_ = until; }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::vector<Line> lines_;  // Sorted at the end.
  TimePs settled_;
};

// All that two runs must agree in, and how much of one was counted.
struct Outcome {
  std::vector<AllMessages::Line> messages;
  TimePs time;
  std::vector<std::tuple<TimePs, TimePs>> collectives;  // Start and time.
  std::vector<double> link_bytes;
  std::vector<std::tuple<double, uint64_t, TimePs, Bytes>> links;
  uint64_t hops = 0;
  uint64_t replayed_hops = 0;
  uint64_t events = 0;  // Also those that were simulated apart.
};

std::unique_ptr<NetworkBackend> MakeNetwork(const Topology& topology,
                                            const PacketOptions& options) {
  return std::make_unique<PacketBackend>(topology, options);
}
std::unique_ptr<NetworkBackend> MakeNetwork(const Topology& topology,
                                            const FlowOptions& options) {
  return std::make_unique<FlowBackend>(topology, options);
}

template <class Options>
Outcome OutcomeOf(const Program& program, const Topology& topology,
                  const Options& network, Acceleration acceleration,
                  SimulationOptions options = {}) {
  Outcome outcome;
  options.lowering = Lowering::kFlowGraph;
  options.acceleration = acceleration;
  AllMessages messages;
  options.message_log = &messages;
  options.on_network_end = [&](NetworkBackend& backend) {
    const NetworkStatistics& statistics = backend.statistics();
    outcome.hops = statistics.num_packet_hops;
    outcome.replayed_hops = statistics.num_replayed_hops;
    outcome.events = statistics.num_events;
    outcome.links.clear();
    for (const LinkRecord& link : statistics.links) {
      outcome.links.emplace_back(link.bytes, link.packets, link.busy,
                                 link.max_queue);
    }
  };
  Routes routes(topology);
  const SimulationResult result =
      ValueOrDie(Simulate(program, options, routes,
                          [&] { return MakeNetwork(topology, network); }));
  outcome.time = result.total();
  outcome.messages = messages.lines();
  outcome.link_bytes = result.link_bytes;
  for (const CollectiveRecord& record : result.collectives) {
    outcome.collectives.emplace_back(record.start, record.time);
  }
  return outcome;
}

void ExpectSame(const Outcome& exact, const Outcome& off) {
  EXPECT_EQ(exact.time, off.time);
  EXPECT_EQ(exact.collectives, off.collectives);
  EXPECT_EQ(exact.link_bytes, off.link_bytes);
  EXPECT_EQ(exact.links, off.links);
  EXPECT_TRUE(exact.messages == off.messages);
  EXPECT_EQ(exact.hops, off.hops);
  EXPECT_EQ(off.replayed_hops, 0u);
}

// Returns the share of what crossed links that was counted. Expects the same
// outcome without that.
template <class Options = PacketOptions>
double ShareReplayed(const Program& program, const Topology& topology,
                     const Options& network = {}) {
  const Outcome off = OutcomeOf(program, topology, network, Acceleration::kOff);
  const Outcome exact =
      OutcomeOf(program, topology, network, Acceleration::kExact);
  ExpectSame(exact, off);
  return static_cast<double>(exact.replayed_hops) /
         static_cast<double>(exact.hops);
}

// `count` layers that compute for `compute` ns, each with a forward collective
// of TP and a gradient all-reduce of DP, which overlaps with the layer below.
// DP reduces `times` the bytes of TP.
Program Layers(uint32_t tensor, uint32_t gpus, int count, int compute,
               int64_t bytes, std::string_view forward = "ALLREDUCE",
               int64_t times = 1) {
  std::string text = fmt::format(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {} ep: 1 "
      "pp: 1 vpp: 1 ga: 1 all_gpus: {}\n{}\n",
      tensor, gpus, count);
  for (int i = 0; i < count; ++i) {
    text +=
        fmt::format("layer{} -1 {} {} {} {} NONE 0 {} ALLREDUCE {} 0\n", i,
                    compute, forward, bytes, compute, compute, times * bytes);
  }
  Warnings warnings;
  return ValueOrDie(ParseSimaiProgram("w", text, &warnings));
}

TEST(ReplayTest, WhatIsAloneIsSimulatedOnce) {
  EXPECT_GT(ShareReplayed(Layers(4, 4, 6, 1000, 300'000),
                          OneServer(4, "2880Gbps", "100ns")),
            0.5);
}

TEST(ReplayTest, GroupsThatLieAlikeShareASimulation) {
  EXPECT_GT(ShareReplayed(Layers(2, 8, 3, 1000, 300'000), Star(4, 2)), 0.3);
}

// Of one GPU in each server, TP and DP share the NICs. Without computation some
// of their kernels start at the same instant.
TEST(ReplayTest, WhatMeetsOnLinksIsSimulatedTogether) {
  for (const int compute : {0, 3, 20, 60}) {
    ShareReplayed(Layers(2, 4, 4, compute, 500'000), Star(4, 1));
    ShareReplayed(Layers(2, 8, 4, compute, 500'000), Star(8, 1));
  }
}

// Stages send messages over the NICs at which gradients are reduced.
TEST(ReplayTest, WhatMeetsInPipelinesIsSimulatedTogether) {
  for (const std::string_view schedule : {"1f1b", "zb-h1"}) {
    const Program program = PipelinedProgram(
        {.schedule = ScheduleNamed(schedule), .stages = 2, .micro_batches = 6});
    EXPECT_GT(ShareReplayed(program, Star(2, 4)), 0.5);
    ShareReplayed(program, Star(8, 1));
    ShareReplayed(program, OneServer(8, "2880Gbps", "3us"));
  }
}

// Each rank sends to the next stage and gathers at the same instant, so whose
// message is first at a NIC depends on the order of ranks.
TEST(ReplayTest, WhatStartsAtOneInstantKeepsItsOrder) {
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 8, tp: 4, pp: 2, micro_batches: 6}
schedule: zb-h1
pipeline_message: 524288
modules:
  - name: block
    forward: [{blocking: all-gather, over: TP, bytes: 2097152}, {compute: 9us}]
    input_gradient:
      - {blocking: all-gather, over: TP, bytes: 2097152}
      - {compute: 7us}
    weight_gradient: [{compute: 5us}]
stages:
  - run: [{chunk: 0, modules: [block]}]
  - run: [{chunk: 0, modules: [block]}]
)"));
  ShareReplayed(program, OneServer(8, "2880Gbps", "3us"));
}

// Forty small collectives meet one gradient, one after the other. With each
// that comes, all would be simulated together from the beginning of the first.
TEST(ReplayTest, WhatMeetsTooManyIsSimulatedInEarnest) {
  std::string text = R"(simai_program: 1
sizes: {gpus: 8, tp: 4}
modules:
  - name: small
    input_gradient:
)";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format(
        "      - {{compute: {}ns}}\n"
        "      - {{blocking: all-reduce, over: TP, bytes: 65536}}\n",
        700 + 10 * i);
  }
  text += R"(  - name: large
    weight_gradient: [{launch: all-reduce, over: DP, bytes: 8000000}]
stages:
  - run: [{chunk: 0, modules: [small, large]}]
)";
  const Program program = ValueOrDie(ParseProgram("p", text));
  const Topology topology = Star(8, 1);
  const PacketOptions network;
  const Outcome off = OutcomeOf(program, topology, network, Acceleration::kOff);
  const Outcome exact =
      OutcomeOf(program, topology, network, Acceleration::kExact);
  ExpectSame(exact, off);
  EXPECT_LE(exact.events, 4 * off.events);
}

// Gradients are reduced while the layer below meets them, and after that.
TEST(ReplayTest, RoundsAreSkippedOnceOthersAreDone) {
  EXPECT_GT(
      ShareReplayed(Layers(2, 32, 2, 10, 100'000, "ALLREDUCE", /*times=*/160),
                    Star(32, 1)),
      0.94);
}

TEST(ReplayTest, RoundsOfALargeRingAreSkipped) {
  EXPECT_GT(ShareReplayed(Layers(16, 16, 1, 10, 8'000'000), Star(16, 1)), 0.5);
}

// One message of 5,000 packets to and from each rank, and nothing else.
TEST(ReplayTest, PacketsWithinMessagesAreSkipped) {
  for (const uint32_t packets_per_ack : {1U, 3U}) {
    PacketOptions network;
    network.nic.packets_per_ack = packets_per_ack;
    const Program exchange = Layers(2, 2, 1, 10, 40'000'000);
    EXPECT_GT(
        ShareReplayed(exchange, OneServer(2, "2880Gbps", "100ns"), network),
        0.9);
    EXPECT_GT(ShareReplayed(exchange, Star(2, 1), network), 0.9);
  }
}

// Two pairs of ranks on one NIC each share it from the middle of a message on.
TEST(ReplayTest, PacketsAreSkippedUntilAnotherMessageComes) {
  for (const int compute : {100, 777, 1500}) {
    EXPECT_GT(ShareReplayed(Layers(2, 4, 2, compute, 40'000'000), Star(4, 1)),
              0.5);
  }
}

// Packets over the spine are marked, so that DP is simulated in earnest the
// second time. When it has been delivered, acknowledgements are still to come
// from the other leaf, and meet TP.
TEST(ReplayTest, WhatIsDeliveredKeepsItsLinksUntilItIsAcknowledged) {
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 4, tp: 2}
modules:
  - name: block
    forward:
      - {blocking: all-reduce, over: DP, bytes: 2000000}
      - {compute: 1ms}
      - {blocking: all-reduce, over: DP, bytes: 2000000}
      - {blocking: all-reduce, over: TP, bytes: 1000000}
stages:
  - run: [{chunk: 0, modules: [block]}]
)"));
  Drawing drawing(4, 1, 0, 3);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    drawing.Cable(gpu, 4 + gpu / 2, "400Gbps", "20ns");
  }
  drawing.Cable(4, 6, "400Gbps", "20us");
  drawing.Cable(5, 6, "400Gbps", "20us");
  PacketOptions network;
  network.nic.completion = Completion::kDelivered;
  network.fabric.ecn_thresholds = {{.rate = Gbps(400),
                                    .min_queue = Bytes(1),
                                    .max_queue = Bytes(100'000),
                                    .max_probability = 0.5}};
  ShareReplayed(program, drawing.Build(), network);
}

TEST(ReplayTest, WhatDoesNotHoldIsSimulatedFromTheBeginning) {
  std::vector<std::string> reasons;
  SimulationOptions options;
  options.on_restart = [&](const Restart& restart) {
    EXPECT_TRUE(restart.simulated.empty());
    reasons.emplace_back(restart.why);
  };
  std::vector<Acceleration> runs;
  const auto simulate =
      [&](const SimulationOptions& these) -> absl::StatusOr<SimulationResult> {
    runs.push_back(these.acceleration);
    if (runs.size() == 1) return absl::UnavailableError("it was too late");
    return SimulationResult();
  };
  EXPECT_TRUE(AnewIfNeeded(options, simulate).ok());
  EXPECT_EQ(runs, (std::vector{Acceleration::kExact, Acceleration::kOff}));
  EXPECT_EQ(reasons, (std::vector<std::string>{"it was too late"}));
}

// Only what did not hold is simulated when the run begins anew, unless that
// happens again and again.
TEST(ReplayTest, WhatHoldsIsStillCountedAgainAfterARestart) {
  const auto of_bytes = [](int64_t bytes) {
    return Communication{CollectiveKind::kAllReduce, ParallelDimension::kData,
                         Bytes(bytes)};
  };
  std::vector<std::vector<Communication>> restarts;
  SimulationOptions options;
  options.on_restart = [&](const Restart& restart) {
    restarts.emplace_back(restart.simulated.begin(), restart.simulated.end());
  };
  std::vector<Acceleration> runs;
  const auto simulate =
      [&](const SimulationOptions& these) -> absl::StatusOr<SimulationResult> {
    runs.push_back(these.acceleration);
    const auto number = static_cast<int64_t>(runs.size());
    EXPECT_EQ(these.never_replayed->size(), runs.size() - 1);
    if (these.acceleration == Acceleration::kOff) return SimulationResult();
    these.never_replayed->push_back(of_bytes(number));
    return absl::UnavailableError("it was too late");
  };
  EXPECT_TRUE(AnewIfNeeded(options, simulate).ok());
  EXPECT_EQ(runs, (std::vector{Acceleration::kExact, Acceleration::kExact,
                               Acceleration::kExact, Acceleration::kOff}));
  EXPECT_EQ(restarts, (std::vector<std::vector<Communication>>{
                          {of_bytes(1)}, {of_bytes(2)}, {}}));
}

TEST(ReplayTest, WhatIsNeverToBeCountedAgainIsSimulated) {
  const Program program = Layers(2, 8, 6, 300, 500'000);
  const Topology topology = Star(4, 2);
  SimulationOptions options;
  const Outcome exact = OutcomeOf(program, topology, FlowOptions(),
                                  Acceleration::kExact, options);
  options.never_replayed = std::make_shared<std::vector<Communication>>(
      1, Communication{CollectiveKind::kAllReduce, ParallelDimension::kData,
                       Bytes(500'000)});
  const Outcome without_dp = OutcomeOf(program, topology, FlowOptions(),
                                       Acceleration::kExact, options);
  EXPECT_EQ(without_dp.collectives, exact.collectives);
  EXPECT_GT(without_dp.events, exact.events);
}

TEST(ReplayTest, AnErrorBoundHolds) {
  constexpr double kBound = 0.02;
  for (const int compute : {300, 10'000, 30'000}) {
    const Program program = Layers(2, 8, 6, compute, 500'000);
    const Topology topology = Star(4, 2);
    const PacketOptions network;
    const Outcome off =
        OutcomeOf(program, topology, network, Acceleration::kOff);
    const Outcome bounded =
        OutcomeOf(program, topology, network, Acceleration::kBounded,
                  {.bound = {.share = kBound}});
    EXPECT_GT(bounded.replayed_hops, 0u);
    ASSERT_EQ(bounded.collectives.size(), off.collectives.size());
    for (size_t i = 0; i < off.collectives.size(); ++i) {
      const double expected = ToMicroseconds(std::get<1>(off.collectives[i]));
      EXPECT_NEAR(ToMicroseconds(std::get<1>(bounded.collectives[i])), expected,
                  kBound * expected);
    }
    EXPECT_NEAR(ToMicroseconds(bounded.time), ToMicroseconds(off.time),
                kBound * ToMicroseconds(off.time));
  }
}

// Expects that with an error bound of 1 % the iteration takes the same time up
// to that. Returns the time.
template <class Options>
TimePs ExpectBound(const Program& program, const Topology& topology,
                   const Options& network, SimulationOptions options) {
  options.bound.share = 0.01;
  const auto time_of = [&](Acceleration acceleration) {
    return OutcomeOf(program, topology, network, acceleration, options).time;
  };
  const TimePs off = time_of(Acceleration::kOff);
  EXPECT_NEAR(ToMicroseconds(time_of(Acceleration::kBounded)),
              ToMicroseconds(off), 0.01 * ToMicroseconds(off));
  return off;
}

// Each micro-batch computes for 200 us and launches gradients that take longer,
// so it takes the same time as the one before and leaves more behind. None may
// be left out.
TEST(ReplayTest, MicroBatchesThatLeaveMoreAndMoreBehindAreAllSimulated) {
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 4, micro_batches: 16}
modules:
  - name: block
    forward:
      - {compute: 100us}
    weight_gradient:
      - {compute: 100us}
      - {launch: reduce-scatter, over: DP, bytes: 20000000}
stages:
  - run: [{chunk: 0, modules: [block]}]
)"));
  EXPECT_GT(ExpectBound(program, Star(4, 1), PacketOptions(), {}),
            16 * Microseconds(220));
}

// Ranks that start at different times share links otherwise than ranks that
// start together, and the collective takes longer by more than they differ.
// Without a comparison, the iteration would be 2 % shorter.
TEST(ReplayTest, StartsAreNotMovedWhereThatChangesMore) {
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 8, tp: 8}
modules:
  - name: block
    forward:
      - {compute: 10us}
      - {blocking: all-reduce, over: TP, bytes: 524288}
stages:
  - run: [{times: 8, modules: [block]}]
)"));
  Drawing drawing(8, 4, 2, 5);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) {
    drawing.Cable(gpu, 8 + gpu / 4, "1200Gbps", "0ns");
    drawing.Cable(gpu, 10 + gpu % 4, "200Gbps", "0ns");
  }
  for (uint32_t leaf = 10; leaf < 14; ++leaf) {
    drawing.Cable(leaf, 14, "800Gbps", "0ns");
  }
  SimulationOptions options;
  options.collectives = CollectiveFamily::kNccl;
  options.nccl = NcclSystem{ValueOrDie(FindSystem("dgx-b200")), {}};
  for (uint32_t i = 0; i < 8; ++i) {
    options.speed_changes.push_back({.time = TimePs(0),
                                     .rank = RankId(i),
                                     .speed = 1 - 0.01 * ((5 * i) % 8)});
  }
  ExpectBound(program, drawing.Build(), FlowOptions{.payload = Bytes(8192)},
              options);
}

TEST(ReplayTest, NoErrorIsAcceptedBeforeManyEvents) {
  const Program program = Layers(2, 8, 6, 300, 500'000);
  const Topology topology = Star(4, 2);
  const auto outcome = [&](Acceleration acceleration, uint64_t exact_events) {
    return OutcomeOf(program, topology, PacketOptions(), acceleration,
                     {.bound = {.share = 0.02, .exact_events = exact_events}});
  };
  const Outcome exact = outcome(Acceleration::kExact, 0);
  EXPECT_EQ(outcome(Acceleration::kBounded, 1'000'000'000).collectives,
            exact.collectives);
  EXPECT_NE(outcome(Acceleration::kBounded, 0).collectives, exact.collectives);
}

// Two layers on two ranks: 10 ns, the first all-reduce, 10 ns, the second, and
// four times 10 ns, in which nothing is sent.
TEST(ReplayTest, CollectivesStartAtSteps) {
  const Program program = Layers(2, 2, 2, 10, 500'000);
  const Topology topology = Star(2, 1);
  const auto time_of = [&](Acceleration acceleration, TimePs step) {
    return OutcomeOf(program, topology, PacketOptions(), acceleration,
                     {.start_step = step})
        .time;
  };
  const TimePs plain = time_of(Acceleration::kOff, TimePs());
  const TimePs collective((plain - Nanoseconds(60)).count() / 2);
  ASSERT_GT(collective, TimePs(0));
  ASSERT_LT(collective, Microseconds(31));
  const TimePs stepped = time_of(Acceleration::kOff, Microseconds(32));
  EXPECT_EQ(stepped, Microseconds(64) + collective + Nanoseconds(40));
  EXPECT_EQ(time_of(Acceleration::kExact, Microseconds(32)), stepped);
}

// Marks are draws, which depend on all packets before.
TEST(ReplayTest, MarkedPacketsAreSimulated) {
  PacketOptions network;
  network.fabric.ecn_thresholds = {{.rate = Gbps(400),
                                    .min_queue = Bytes(1),
                                    .max_queue = Bytes(100'000),
                                    .max_probability = 0.5}};
  const Program incasts = Layers(4, 4, 8, 1000, 300'000, "ALLTOALL");
  EXPECT_EQ(ShareReplayed(incasts, Star(4, 1), network), 0);
  EXPECT_GT(ShareReplayed(incasts, Star(4, 1)), 0);
}

TEST(ReplayTest, FlowsThatAreAloneAreSimulatedOnce) {
  const FlowOptions network;
  EXPECT_GT(ShareReplayed(Layers(4, 4, 6, 1000, 300'000),
                          OneServer(4, "2880Gbps", "100ns"), network),
            0.5);
  EXPECT_GT(ShareReplayed(Layers(2, 8, 3, 1000, 300'000), Star(4, 2), network),
            0.3);
}

TEST(ReplayTest, FlowsThatMeetOnLinksAreSimulatedTogether) {
  for (const int compute : {3, 20, 60}) {
    const FlowOptions network;
    ShareReplayed(Layers(2, 4, 4, compute, 500'000), Star(4, 1), network);
    ShareReplayed(Layers(2, 8, 4, compute, 500'000), Star(8, 1), network);
    ShareReplayed(Layers(4, 16, 4, compute, 500'000, "ALLTOALL"), Star(8, 2),
                  network);
  }
}

// Messages within a server take no time, so that a result may follow from
// another at the same instant. The ranks see first what follows from nothing,
// of replays and of what is simulated in earnest.
TEST(ReplayTest, FlowsOfOneInstantKeepTheirOrder) {
  const Program program = ValueOrDie(ParseProgram("p", R"(simai_program: 1
sizes: {gpus: 16, tp: 8}
modules:
  - name: small
    forward:
      - {blocking: all-reduce, over: TP, bytes: 4}
      - {blocking: all-reduce, over: TP, bytes: 4}
      - {blocking: all-reduce, over: TP, bytes: 4}
      - {blocking: all-reduce, over: TP, bytes: 4}
stages:
  - run: [{chunk: 0, modules: [small]}]
)"));
  Drawing drawing(16, 4, 4, 4);
  for (uint32_t gpu = 0; gpu < 16; ++gpu) {
    drawing.Cable(gpu, 16 + gpu / 4, "3600Gbps", "0ps");
    drawing.Cable(gpu, 20 + gpu % 4, "200Gbps", "3us");
  }
  ShareReplayed(program, drawing.Build(), FlowOptions());
}

// When a message begins, all capacity that is free is given away, so that
// collectives feel others that meet them nowhere.
TEST(ReplayTest, FlowsWhoseRatesWaitAreSimulated) {
  const FlowOptions network = {.end_batching = Microseconds(1)};
  EXPECT_EQ(ShareReplayed(Layers(4, 4, 6, 1000, 300'000),
                          OneServer(4, "2880Gbps", "100ns"), network),
            0);
}

TEST(ReplayTest, ControlsWithAMemoryAreSimulated) {
  PacketOptions network;
  network.congestion.name = "hpcc";
  EXPECT_EQ(ShareReplayed(Layers(4, 4, 3, 1000, 300'000),
                          OneServer(4, "2880Gbps", "100ns"), network),
            0);
}

}  // namespace
}  // namespace astra
