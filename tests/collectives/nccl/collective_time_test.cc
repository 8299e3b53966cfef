#include "collectives/nccl/collective_time.h"

#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using enum CollectiveKind;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

// DGX H100 with round constants: of NVLink's 450 GB/s 360 are reached, of a
// NIC's 50 45; a hop between servers takes 2 us more.
SystemSpec RoundSystem() {
  SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  const auto set = [](Paces* paces, double efficiency) {
    const Pace pace = {efficiency, 0, 1};
    paces->algorithms.fill(pace);
    paces->direct = pace;
    paces->send_recv = pace;
    paces->symmetric = pace;
  };
  set(&system.interconnect.paces, 0.8);
  set(&system.transport.paces, 0.9);
  system.interconnect.launch_us = 20;
  system.interconnect.graph_launch_us = 10;
  system.interconnect.ll_GBps = 1e9;
  system.interconnect.latencies = {};  // As NCCL says.
  system.interconnect.copy_GBps = 1e9;
  system.transport.launch_us = 30;
  system.transport.latency_us = 2;
  system.transport.one_queue_pair = 1;
  return system;
}

NcclOptions Options(const std::string& list) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(list, &options);
  ASTRA_CHECK(status.ok(), "{}", status.ToString());
  return options;
}

std::vector<RankId> Ranks(const std::vector<uint32_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Groups on servers of a system, and what they are timed with.
class Cluster {
 public:
  Cluster(const SystemSpec& system, uint32_t num_servers,
          const NcclOptions& options)
      : system_(system),
        options_(options),
        topology_(ValueOrDie(
            BuildSystemTopology(system, num_servers * system.gpus_per_server,
                                system.gpus_per_server))),
        routes_(topology_) {}

  CollectiveTimes TimesOf(CollectiveKind kind,
                          std::vector<std::vector<RankId>> groups) {
    return ValueOrDie(CollectiveTimes::Create(kind, std::move(groups), system_,
                                              options_, routes_));
  }

  std::vector<RankId> All() const {
    std::vector<RankId> ranks;
    for (uint32_t i = 0; i < topology_.num_gpus(); ++i) ranks.emplace_back(i);
    return ranks;
  }

  double UsOfAll(CollectiveKind kind, Bytes bytes) {
    CollectiveTimes times = TimesOf(kind, {All()});
    return Us(ValueOrDie(times.Time(0, bytes)));
  }

  static double Us(const TimedCollective& timed) {
    return static_cast<double>(timed.time.count()) / 1e6;
  }

  const Topology& topology() const { return topology_; }

 private:
  SystemSpec system_;
  NcclOptions options_;
  Topology topology_;
  Routes routes_;
};

double RingUs(uint32_t num_servers, CollectiveKind kind, int64_t bytes,
              const std::string& protocol, const SystemSpec& system) {
  return Cluster(system, num_servers,
                 Options("NCCL_ALGO=Ring,NCCL_PROTO=" + protocol))
      .UsOfAll(kind, Bytes(bytes));
}

constexpr int64_t kMB = 1'000'000;

TEST(SizedTimeTest, IsLatencyBytesAndRampButAtLeastTheLaunch) {
  const SizedTime time = {.launch_us = 12,
                          .latency_us = 10,
                          .ps_per_byte = 2,
                          .ramp_us = 8,
                          .ramp_bytes = 1e6};
  EXPECT_EQ(time.TimeOf(Bytes(1)), TimePs(12'000'000));
  // 10 + 2 + 8 / 2 us.
  EXPECT_EQ(time.TimeOf(Bytes(1'000'000)), TimePs(16'000'000));
}

// 10 us for the smallest buffers, 4 us more for large ones, half of it at 1
// KiB.
TEST(SizedTimeTest, LatencySpreadsWithTheSize) {
  const SizedTime time = {
      .latency_us = 10, .spread_us = 4, .spread_bytes = 1024};
  EXPECT_DOUBLE_EQ(time.LatencyUs(Bytes(0)), 10);
  EXPECT_DOUBLE_EQ(time.LatencyUs(KiB(1)), 12);
  EXPECT_DOUBLE_EQ(time.LatencyUs(KiB(3)), 13);
  EXPECT_EQ(time.TimeOf(KiB(3)), Microseconds(13));
}

TEST(SizedTimeTest, EndsAtTheLimit) {
  SizedTime time;
  time.ps_per_byte = 1e9;
  EXPECT_EQ(time.TimeOf(Bytes(int64_t{1} << 60)), kMaxCollectiveTime);
}

TEST(CollectiveTimeTest, RingInAServerFollowsTheFormula) {
  // 14 steps of 3.4 us; 14/8 x 3.6 GB at 360 GB/s.
  EXPECT_NEAR(RingUs(1, kAllReduce, 3600 * kMB, "Simple", RoundSystem()),
              8.4 + 14 * 3.4 + 17500, 1e-2);
  // Half of it is flags.
  EXPECT_NEAR(RingUs(1, kAllReduce, 3600 * kMB, "LL", RoundSystem()),
              6.6 + 14 * 0.6 + 2 * 17500, 1e-2);
  // 7 steps; 7/8.
  EXPECT_NEAR(RingUs(1, kAllGather, 3600 * kMB, "Simple", RoundSystem()),
              8.4 + 7 * 3.4 + 8750, 1e-2);
}

TEST(CollectiveTimeTest, RingOverServersIsBoundByItsNics) {
  // 28 steps within and 2 between servers; 30/16 of 3.6 GB over 8 NICs.
  EXPECT_NEAR(RingUs(2, kAllReduce, 3600 * kMB, "Simple", RoundSystem()),
              8.4 + 28 * 3.4 + 2 * (14 + 2 * 2) + 18750, 1e-2);
  EXPECT_NEAR(RingUs(2, kReduceScatter, 3600 * kMB, "Simple", RoundSystem()),
              8.4 + 14 * 3.4 + 14 + 2 * 2 + 9375, 1e-2);
}

// Some chunk of an all-gather over two servers of eight crosses between them
// twice in its 15 hops, and one of an all-reduce four times in 30.
TEST(CollectiveTimeTest, LongLinksCountAsOftenAsAChunkCrossesThem) {
  const SystemSpec system = RoundSystem();
  SystemSpec far = system;
  far.transport.fabric_latency_ns += 100'000;  // Of each of two links.
  const auto us = [&](CollectiveKind kind, const SystemSpec& links) {
    const Topology topology = ValueOrDie(BuildSystemTopology(links, 16, 8));
    Routes routes(topology);
    std::vector<RankId> ranks;
    for (uint32_t i = 0; i < 16; ++i) ranks.emplace_back(i);
    CollectiveTimes times = ValueOrDie(CollectiveTimes::Create(
        kind, {ranks}, system, Options("NCCL_ALGO=Ring,NCCL_PROTO=Simple"),
        routes));
    return Cluster::Us(ValueOrDie(times.Time(0, KiB(1))));
  };
  EXPECT_NEAR(us(kAllGather, far) - us(kAllGather, system), 2 * 200, 1e-3);
  EXPECT_NEAR(us(kReduceScatter, far) - us(kReduceScatter, system), 2 * 200,
              1e-3);
  EXPECT_NEAR(us(kAllReduce, far) - us(kAllReduce, system), 4 * 200, 1e-3);
}

TEST(CollectiveTimeTest, BroadcastPassesAllRanksOnce) {
  EXPECT_NEAR(RingUs(1, kBroadcast, 3600 * kMB, "Simple", RoundSystem()),
              8.4 + 7 * 3.4 + 10000, 1e-2);
}

TEST(CollectiveTimeTest, AllToAllIsBoundByWhatLeavesTheServer) {
  // 8 of 16 blocks of a GPU's buffer, over its NIC; 8 messages are posted.
  Cluster cluster(RoundSystem(), 2, Options("NCCL_PXN_DISABLE=1"));
  EXPECT_NEAR(cluster.UsOfAll(kAllToAll, Bytes(3'600'000'000)),
              8.4 + 14 + 2 * 2 + 8 + 40000, 1e-2);
}

TEST(CollectiveTimeTest, DispatchAndCombineTakeTheTimeOfAnAllToAll) {
  for (const uint32_t num_servers : {1U, 2U, 4U}) {
    for (const char* options : {"NCCL_PXN_DISABLE=0", "NCCL_PXN_DISABLE=1"}) {
      Cluster cluster(RoundSystem(), num_servers, Options(options));
      for (const int64_t bytes : {int64_t{1}, int64_t{100'000}, 3600 * kMB}) {
        const double us = cluster.UsOfAll(kAllToAll, Bytes(bytes));
        EXPECT_EQ(cluster.UsOfAll(kDispatch, Bytes(bytes)), us);
        EXPECT_EQ(cluster.UsOfAll(kCombine, Bytes(bytes)), us);
      }
    }
  }
}

TEST(CollectiveTimeTest, RingsAreLimitedByLlAndByTheirChannels) {
  SystemSpec system = RoundSystem();
  system.interconnect.ll_GBps = 100;
  EXPECT_NEAR(RingUs(1, kAllReduce, 3600 * kMB, "LL", system),
              6.6 + 14 * 0.6 + 63000, 1e-2);
  // A channel of Hopper carries 36.7 GB/s.
  Cluster narrow(RoundSystem(), 1,
                 Options("NCCL_ALGO=Ring,NCCL_PROTO=Simple,"
                         "NCCL_MAX_NCHANNELS=2"));
  EXPECT_NEAR(narrow.UsOfAll(kAllReduce, Bytes(3'670'000'000)),
              8.4 + 14 * 3.4 + 1.75 * 50000, 1e-2);
}

TEST(CollectiveTimeTest, HalfOfTheRampIsThereAtItsSize) {
  SystemSpec system = RoundSystem();
  system.interconnect.paces.algorithms[IndexOf(NcclAlgorithm::kRing)] = {
      0.8, 100, 1};
  EXPECT_NEAR(RingUs(1, kAllReduce, 1 << 20, "Simple", system) -
                  RingUs(1, kAllReduce, 1 << 20, "Simple", RoundSystem()),
              50, 1e-5);
}

// An all-reduce of 8 B over 8 ranks is a ring with LL: 14 hops of 0.6 us after
// a start of 6.6 us, by NCCL's constants.
TEST(CollectiveTimeTest, LatenciesOfAServerAreScaled) {
  NcclOptions queued;
  queued.launch = Launch::kQueued;
  SystemSpec system = RoundSystem();
  ProtocolLatency& ll =
      system.interconnect.latencies.protocols[IndexOf(NcclProtocol::kLl)];
  ll = {.start = 2, .hop = 0.5};
  EXPECT_NEAR(Cluster(system, 1, queued).UsOfAll(kAllReduce, Bytes(8)),
              2 * 6.6 + 0.5 * 14 * 0.6, 1e-2);
  ll.spread = 1;
  ll.spread_KiB = 1.0 / 128;  // 8 B.
  EXPECT_NEAR(Cluster(system, 1, queued).UsOfAll(kAllReduce, Bytes(8)),
              1.5 * (2 * 6.6 + 0.5 * 14 * 0.6), 1e-2);
}

// Links carry 450 GB/s, of which all-to-alls reach 0.8 and a message to one
// rank 0.4.
TEST(CollectiveTimeTest, AMessageToOneRankHasAPaceOfItsOwn) {
  SystemSpec system = RoundSystem();
  const auto wire_us = [&system](CollectiveKind kind) {
    Cluster cluster(system, 1, {});
    CollectiveTimes times = cluster.TimesOf(kind, {Ranks({2, 5})});
    return Cluster::Us(ValueOrDie(times.Time(0, Bytes(7200 * kMB)))) -
           Cluster::Us(ValueOrDie(times.Time(0, Bytes(3600 * kMB))));
  };
  EXPECT_NEAR(wire_us(kSendRecv), 10000, 1);
  system.interconnect.paces.send_recv.efficiency = 0.4;
  EXPECT_NEAR(wire_us(kSendRecv), 20000, 1);
  EXPECT_NEAR(wire_us(kAllToAll), 5000, 1);
}

TEST(CollectiveTimeTest, CrowdingSlowsMoreThanTwoGpusDown) {
  SystemSpec system = RoundSystem();
  const double free_us = RingUs(1, kAllReduce, 3600 * kMB, "Simple", system);
  system.interconnect.crowding = 1;
  const double latency_us = 8.4 + 14 * 3.4;
  EXPECT_NEAR(RingUs(1, kAllReduce, 3600 * kMB, "Simple", system) - latency_us,
              4 * (free_us - latency_us), 1);
}

// Two of eight GPUs whose links lead to seven others have 1/7 of them, three
// 2/7.
TEST(CollectiveTimeTest, LinksToOtherPeersAreOfNoUse) {
  SystemSpec system = RoundSystem();
  const std::vector<uint32_t> all = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto wire_us = [&system](CollectiveKind kind,
                                 const std::vector<uint32_t>& ranks) {
    Cluster cluster(system, 1, Options("NCCL_ALGO=Ring,NCCL_PROTO=Simple"));
    CollectiveTimes times = cluster.TimesOf(kind, {Ranks(ranks)});
    return Cluster::Us(ValueOrDie(times.Time(0, Bytes(7200 * kMB)))) -
           Cluster::Us(ValueOrDie(times.Time(0, Bytes(3600 * kMB))));
  };
  const double pair_us = wire_us(kAllReduce, {2, 5});
  const double three_us = wire_us(kAllReduce, {2, 5, 7});
  const double all_us = wire_us(kAllReduce, all);
  const double send_us = wire_us(kSendRecv, {2, 5});
  system.interconnect.num_peers = 7;
  EXPECT_NEAR(wire_us(kAllReduce, {2, 5}), 7 * pair_us, 1);
  EXPECT_NEAR(wire_us(kAllReduce, {2, 5, 7}), 3.5 * three_us, 1);
  EXPECT_NEAR(wire_us(kAllReduce, all), all_us, 1e-3);
  EXPECT_NEAR(wire_us(kSendRecv, {2, 5}), 7 * send_us, 1);
}

TEST(CollectiveTimeTest, NothingIsFasterThanALaunch) {
  EXPECT_EQ(Cluster(RoundSystem(), 1, {}).UsOfAll(kAllReduce, Bytes(8)), 20);
  NcclOptions graph;
  graph.launch = Launch::kGraph;
  // 6.6 + 14 x 0.6.
  EXPECT_NEAR(Cluster(RoundSystem(), 1, graph).UsOfAll(kAllReduce, Bytes(8)),
              15, 1e-3);
  EXPECT_EQ(Cluster(RoundSystem(), 2, {}).UsOfAll(kAllGather, Bytes(8)), 30);
  // Behind other work nothing but NCCL's latency is left.
  NcclOptions queued;
  queued.launch = Launch::kQueued;
  EXPECT_NEAR(Cluster(RoundSystem(), 1, queued).UsOfAll(kAllReduce, Bytes(8)),
              15, 1e-3);
}

TEST(CollectiveTimeTest, GroupsThatShareANicSlowOneAnotherDown) {
  // In an instance of p4d GPUs 0 and 1 have one NIC, 2 and 3 another.
  SystemSpec system = ValueOrDie(FindSystem("aws-p4d"));
  Cluster cluster(system, 2, Options("NCCL_ALGO=Ring,NCCL_PROTO=Simple"));
  const auto us = [&](const std::vector<std::vector<RankId>>& groups) {
    CollectiveTimes times = cluster.TimesOf(kAllReduce, groups);
    return Cluster::Us(ValueOrDie(times.Time(0, Bytes(1000 * kMB))));
  };
  const double alone = us({Ranks({0, 8})});
  EXPECT_EQ(us({Ranks({0, 8}), Ranks({2, 10})}), alone);
  EXPECT_GT(us({Ranks({0, 8}), Ranks({1, 9})}), 1.8 * alone);
}

TEST(CollectiveTimeTest, GroupsAlikeTakeTheSameTime) {
  Cluster cluster(RoundSystem(), 4, {});
  std::vector<std::vector<RankId>> groups;
  for (uint32_t rail = 0; rail < 8; ++rail) {
    groups.push_back(Ranks({rail, rail + 8, rail + 16, rail + 24}));
  }
  CollectiveTimes times = cluster.TimesOf(kAllReduce, groups);
  const TimedCollective first = ValueOrDie(times.Time(0, MiB(64)));
  for (size_t group = 1; group < groups.size(); ++group) {
    EXPECT_EQ(ValueOrDie(times.Time(group, MiB(64))).time, first.time);
    EXPECT_EQ(&times.tuning(group), &times.tuning(0));
  }
}

TEST(CollectiveTimeTest, TellsWhatEachLinkCarries) {
  Cluster cluster(RoundSystem(), 1, Options("NCCL_ALGO=Ring"));
  CollectiveTimes times = cluster.TimesOf(kAllReduce, {cluster.All()});
  const absl::Span<const double> bytes =
      ValueOrDie(times.LinkBytesPerByte(0, MiB(1)));
  const Topology& topology = cluster.topology();
  ASSERT_EQ(bytes.size(), topology.links().size());
  for (uint32_t i = 0; i < bytes.size(); ++i) {
    const Link& link = topology.links()[i];
    const bool is_nvlink = topology.kind(link.source) != NodeKind::kSwitch &&
                           topology.kind(link.target) != NodeKind::kSwitch;
    EXPECT_NEAR(bytes[i], is_nvlink ? 1.75 : 0, 1e-9);
  }
}

TEST(CollectiveTimeTest, TellsWhatSetsThePace) {
  Cluster cluster(RoundSystem(), 2, Options("NCCL_ALGO=Ring"));
  CollectiveTimes times = cluster.TimesOf(kAllReduce, {cluster.All()});
  const TimedCollective small = ValueOrDie(times.Time(0, KiB(1)));
  EXPECT_TRUE(small.is_latency_bound);
  const TimedCollective large = ValueOrDie(times.Time(0, MiB(1024)));
  EXPECT_FALSE(large.is_latency_bound);
  EXPECT_EQ(large.algorithm, "Ring");
  EXPECT_EQ(large.protocol, "Simple");
  EXPECT_EQ(large.registry_name, "ring");
  const Link& link = cluster.topology().link(large.bottleneck);
  EXPECT_TRUE(cluster.topology().kind(link.source) == NodeKind::kSwitch ||
              cluster.topology().kind(link.target) == NodeKind::kSwitch);
}

// NCCL chooses for each communicator. DP 6 on servers of 8: the first group is
// within a server, the others are not.
TEST(CollectiveTimeTest, GroupsWithinAndBetweenServersRunWhatTheyChoose) {
  Cluster cluster(*FindSystem("dgx-h100"), 3, NcclOptions());
  const auto group = [](uint32_t first) {
    std::vector<RankId> ranks;
    for (uint32_t i = 0; i < 6; ++i) ranks.emplace_back(first + i);
    return ranks;
  };
  CollectiveTimes all =
      cluster.TimesOf(kAllReduce, {group(0), group(6), group(12), group(18)});
  const Bytes bytes = MiB(1024);
  const TimedCollective within = ValueOrDie(all.Time(0, bytes));
  const TimedCollective between = ValueOrDie(all.Time(1, bytes));
  EXPECT_EQ(within.algorithm, "NVLS");
  EXPECT_NE(between.algorithm, "NVLS");
  CollectiveTimes alone = cluster.TimesOf(kAllReduce, {group(0)});
  EXPECT_EQ(within.time, ValueOrDie(alone.Time(0, bytes)).time);
  CollectiveTimes other = cluster.TimesOf(kAllReduce, {group(6)});
  EXPECT_GE(between.time, ValueOrDie(other.Time(0, bytes)).time);
  // Link by link, the bytes of all groups.
  double sum = 0;
  for (const double share : ValueOrDie(all.LinkBytesPerByte(0, bytes))) {
    sum += share;
  }
  double of_one = 0;
  for (const double share : ValueOrDie(alone.LinkBytesPerByte(0, bytes))) {
    of_one += share;
  }
  EXPECT_GT(sum, 3 * of_one);
}

TEST(CollectiveTimeTest, AnAlgorithmThatTheGroupLacksIsAnError) {
  Cluster cluster(RoundSystem(), 2, Options("NCCL_ALGO=NVLS"));
  CollectiveTimes times = cluster.TimesOf(kAllReduce, {Ranks({0, 8})});
  EXPECT_THAT(
      times.Time(0, MiB(1)),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "no algorithm is left for all-reduce: NCCL_ALGO, NCCL_PROTO and "
               "the like exclude all that this group has (Tree/LL, Tree/LL128, "
               "Tree/Simple, Ring/LL, Ring/LL128, Ring/Simple)"));
}

}  // namespace
}  // namespace astra
