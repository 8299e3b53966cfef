#include "collectives/closed_form.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "topology/templates/registry.h"

namespace astra {
namespace {

using ::astra::testing::FullMesh;
using ::astra::testing::OneServer;
using ::astra::testing::Star;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

using Groups = std::vector<std::vector<RankId>>;

std::vector<RankId> Ranks(uint32_t first, uint32_t count, uint32_t stride) {
  std::vector<RankId> ranks;
  for (uint32_t i = 0; i < count; ++i) {
    ranks.push_back(RankId(first + i * stride));
  }
  return ranks;
}

ClosedForms Lay(CollectiveKind kind, const Groups& groups,
                const Topology& topology) {
  Routes routes(topology);
  return ValueOrDie(
      LayOnLinks(DefaultCollectiveAlgorithm(kind), groups, routes));
}

TimePs TimeOfFirst(CollectiveKind kind, Bytes bytes, const Groups& groups,
                   const Topology& topology) {
  return Lay(kind, groups, topology).groups.front().form.TimeOf(bytes);
}

TEST(ClosedFormTest, RingAllReduceInAServerIsExactToThePicosecond) {
  // 2 x 7/8 x 16 MiB / 360 GB/s = 81,555,911.1 ps.
  EXPECT_EQ(TimeOfFirst(CollectiveKind::kAllReduce, MiB(16), {Ranks(0, 8, 1)},
                        OneServer(8, "2880Gbps", "0ns")),
            TimePs(81'555'911));
}

TEST(ClosedFormTest, EveryStepTakesTheLatencyOfItsPath) {
  // 2 x 7 steps over 2 links of 25 ns.
  EXPECT_EQ(TimeOfFirst(CollectiveKind::kAllReduce, MiB(16), {Ranks(0, 8, 1)},
                        OneServer(8, "2880Gbps", "25ns")),
            TimePs(81'555'911) + 14 * Nanoseconds(50));
}

TEST(ClosedFormTest, AllGatherOverServersUsesEveryNic) {
  // 8 ranks on 2 servers: 4 channels. In a step, each NIC carries one chunk of
  // S/32 at 50 GB/s, each NVLink three of them at 100 GB/s: 7 steps of S/1600
  // or 3 S/3200 ns, whichever is more: the NVLink.
  const Bytes bytes(3'200'000);
  const ClosedForms forms =
      Lay(CollectiveKind::kAllGather, {Ranks(0, 8, 1)}, Star(2, 4));
  EXPECT_EQ(forms.groups[0].form.TimeOf(bytes), 7 * Nanoseconds(3000));
}

TEST(ClosedFormTest, GroupsShareTheLinksThatBothUse) {
  // Two GPUs on each of two servers; both pairs cross by the same cable between
  // two switches.
  TopologyBuilder builder(4, 2, "H100");
  const NodeId left = builder.AddSwitch(NodeKind::kSwitch);
  const NodeId right = builder.AddSwitch(NodeKind::kSwitch);
  const LinkTypeId type = ValueOrDie(builder.AddLinkType("8Gbps", "0ns", "0"));
  for (uint32_t gpu = 0; gpu < 4; ++gpu) {
    ASSERT_TRUE(
        builder.AddCable(NodeId(gpu), gpu < 2 ? left : right, type).ok());
  }
  ASSERT_TRUE(builder.AddCable(left, right, type).ok());
  const Topology topology = ValueOrDie(std::move(builder).Build());

  // 1 kB at 1 GB/s takes 1 us; two of them over one cable take 2 us.
  const Bytes bytes(1000);
  EXPECT_EQ(
      TimeOfFirst(CollectiveKind::kSendRecv, bytes, {Ranks(0, 2, 2)}, topology),
      Microseconds(1));
  const ClosedForms both = Lay(CollectiveKind::kSendRecv,
                               {Ranks(0, 2, 2), Ranks(1, 2, 2)}, topology);
  EXPECT_EQ(both.groups[0].form.TimeOf(bytes), Microseconds(2));
  EXPECT_EQ(both.groups[0].form, both.groups[1].form);
  EXPECT_EQ(topology.LinkName(both.groups[0].bottleneck),
            "switch 4 (tier 1) -> switch 5 (tier 1) at 8 Gbps");
}

TEST(ClosedFormTest, AGroupWaitsOnlyForLinksOfItsOwn) {
  // Ranks 0 and 1 talk by NVLink, 2 and 6 by NIC, at half the rate.
  const ClosedForms forms = Lay(CollectiveKind::kSendRecv,
                                {Ranks(0, 2, 1), Ranks(2, 2, 4)}, Star(2, 4));
  EXPECT_EQ(forms.groups[0].form.TimeOf(KiB(100)),
            TransferTime(KiB(100), Gbps(800)));
  EXPECT_EQ(forms.groups[1].form.TimeOf(KiB(100)),
            TransferTime(KiB(100), Gbps(400)));
}

TEST(ClosedFormTest, AllToAllIsBoundByTheNic) {
  // Each rank sends 4 of 8 parts to the other server at 50 GB/s.
  for (const CollectiveKind kind :
       {CollectiveKind::kAllToAll, CollectiveKind::kDispatch,
        CollectiveKind::kCombine}) {
    EXPECT_EQ(TimeOfFirst(kind, Bytes(800'000), {Ranks(0, 8, 1)}, Star(2, 4)),
              Microseconds(8))
        << Name(kind);
  }
}

TEST(ClosedFormTest, LinksCarryWhatTheRanksSend) {
  const ClosedForms forms = Lay(CollectiveKind::kAllReduce, {Ranks(0, 8, 1)},
                                OneServer(8, "100Gbps", "0ns"));
  for (const double bytes : forms.link_bytes_per_byte) {
    EXPECT_DOUBLE_EQ(bytes, 2 * 7 / 8.0);  // Each way of each cable.
  }
}

TEST(ClosedFormTest, WorksWithoutASwitch) {
  EXPECT_EQ(TimeOfFirst(CollectiveKind::kAllToAll, Bytes(4000),
                        {Ranks(0, 4, 1)}, FullMesh(4, "8Gbps", "0ns")),
            Microseconds(1));
}

TEST(ClosedFormTest, RanksThatCannotMeetAreAnError) {
  TopologyBuilder builder(3, 1, "GPU");
  const LinkTypeId type = ValueOrDie(builder.AddLinkType("8Gbps", "0ns", "0"));
  ASSERT_TRUE(builder.AddCable(NodeId(0), NodeId(1), type).ok());
  ASSERT_TRUE(builder.AddCable(NodeId(1), NodeId(2), type).ok());
  const Topology topology = ValueOrDie(std::move(builder).Build());
  Routes routes(topology);
  EXPECT_THAT(
      LayOnLinks(DefaultCollectiveAlgorithm(CollectiveKind::kSendRecv),
                 Groups{Ranks(0, 2, 2)}, routes),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "no path leads from GPU 0 to GPU 2 without passing through "
               "another GPU"));
}

// The steps of a made-up all-reduce: `Steps` makes them.
template <StepSchedule (*Steps)(const CollectiveRequest&)>
CollectiveAlgorithm Drawn() {
  return {.kind = CollectiveKind::kAllReduce,
          .name = "drawn",
          .lower = nullptr,
          .steps = [](const CollectiveRequest& request)
              -> absl::StatusOr<StepSchedule> { return Steps(request); }};
}

// Rank 0 sends half of the buffer to rank 1, three times, then all of it.
StepSchedule Sends(const CollectiveRequest&) {
  const GroupRank from(0), to(1);
  return {.steps = {{.repeat = 3, .flows = {{from, to, 0.5}}},
                    {.repeat = 1, .flows = {{from, to, 1}}}}};
}

StepSchedule PipelinedSends(const CollectiveRequest& request) {
  StepSchedule schedule = Sends(request);
  schedule.steps[1].flows[0] = {GroupRank(1), GroupRank(0), 1};
  schedule.is_pipelined = true;
  return schedule;
}

ClosedForms LayDrawn(const CollectiveAlgorithm& algorithm, const Groups& groups,
                     const Topology& topology,
                     const std::vector<double>& efficiency = {}) {
  Routes routes(topology);
  return ValueOrDie(LayOnLinks(algorithm, groups, routes, efficiency));
}

// 1 kB at 1 GB/s takes 1 us: 1.5 us there, and 1 us there or back.
TEST(ClosedFormTest, PipelinedStepsAddUpOnTheLinksThatTheyShare) {
  const Topology topology = FullMesh(2, "8Gbps", "3ns");
  const Groups groups = {Ranks(0, 2, 1)};
  const ClosedForms sends = LayDrawn(Drawn<&Sends>(), groups, topology);
  const ClosedForms pipelined =
      LayDrawn(Drawn<&PipelinedSends>(), groups, topology);
  const TimePs latency = 4 * Nanoseconds(3);
  EXPECT_EQ(sends.groups[0].form.TimeOf(Bytes(1000)),
            Nanoseconds(2500) + latency);
  EXPECT_EQ(pipelined.groups[0].form.TimeOf(Bytes(1000)),
            Nanoseconds(1500) + latency);
  EXPECT_EQ(pipelined.link_bytes_per_byte, std::vector<double>({1.5, 1}));
}

TEST(ClosedFormTest, ALinkMayBeSlowerThanItsRate) {
  const Topology topology = FullMesh(2, "8Gbps", "0ns");
  const ClosedForms forms =
      LayDrawn(Drawn<&PipelinedSends>(), {Ranks(0, 2, 1)}, topology, {1, 0.5});
  EXPECT_EQ(forms.groups[0].form.TimeOf(Bytes(1000)), Microseconds(2));
  EXPECT_EQ(forms.groups[0].bottleneck, LinkId(1));
}

// All send their buffer to the NVSwitch, which sends it to all.
StepSchedule InTheSwitch(const CollectiveRequest& request) {
  const GroupLayout& layout = request.layout();
  ScheduleStep up, down;
  for (uint32_t rank = 0; rank < layout.num_ranks(); ++rank) {
    const GroupRank nv_switch =
        layout.nv_switch(layout.server_of(GroupRank(rank)), 0);
    up.flows.push_back({GroupRank(rank), nv_switch, 1});
    down.flows.push_back({nv_switch, GroupRank(rank), 1});
  }
  return {.steps = {up, down}, .is_pipelined = true};
}

TEST(ClosedFormTest, StepsMayEndAtSwitches) {
  const ClosedForms forms =
      LayDrawn(Drawn<&InTheSwitch>(), {Ranks(0, 4, 1), Ranks(4, 2, 1)},
               OneServer(8, "8Gbps", "10ns"));
  for (const ClosedForms::Group& group : forms.groups) {
    EXPECT_EQ(group.form.TimeOf(Bytes(1000)),
              Microseconds(1) + 2 * Nanoseconds(10));
  }
}

// As many steps of a whole buffer as there are ranks, each to the next rank.
StepSchedule AStepPerRank(const CollectiveRequest& request) {
  StepSchedule schedule;
  for (uint32_t i = 0; i < request.num_ranks(); ++i) {
    const GroupRank next((i + 1) % request.num_ranks());
    schedule.steps.push_back(
        {.repeat = 1 + i, .flows = {{GroupRank(i), next, 1}}});
  }
  return schedule;
}

// Groups of 2 and of 3 ranks on links of their own: 1 + 2 and 1 + 2 + 3 us.
TEST(ClosedFormTest, GroupsOfSeveralSizesMayHaveDifferentSteps) {
  const Topology topology = FullMesh(5, "8Gbps", "0ns");
  const ClosedForms forms = LayDrawn(
      Drawn<&AStepPerRank>(), {Ranks(0, 2, 1), Ranks(2, 3, 1)}, topology);
  EXPECT_EQ(forms.groups[0].form.TimeOf(Bytes(1000)), Microseconds(3));
  EXPECT_EQ(forms.groups[1].form.TimeOf(Bytes(1000)), Microseconds(6));
  double carried = 0;
  for (const double bytes : forms.link_bytes_per_byte) carried += bytes;
  EXPECT_DOUBLE_EQ(carried, 3 + 6);
}

TEST(ClosedFormTest, AHugeTimeIsCappedNotWrapped) {
  const ClosedForm form = {.latency = TimePs(0), .ps_per_byte = 8e12};
  EXPECT_EQ(form.TimeOf(Bytes(int64_t{1} << 50)), kMaxCollectiveTime);
}

// Doubling the rate of any make of links, on any template, makes no collective
// slower.
TEST(ClosedFormTest, MoreBandwidthIsNeverSlower) {
  std::mt19937_64 random(7);
  for (const TopologyTemplate& drawn : TopologyTemplates()) {
    SCOPED_TRACE(drawn.name);
    TemplateChoice choice;
    choice.dual_tor = drawn.name == "custom";
    ClusterParameters p = ValueOrDie(drawn.defaults(choice));
    p.num_gpus = 4 * p.gpus_per_server;
    p.num_psws = 4;
    const Topology before = ValueOrDie(BuildCluster(p));
    for (std::string* rate :
         {&p.nvlink_bandwidth, &p.bandwidth, &p.asw_psw_bandwidth}) {
      ClusterParameters faster = p;
      std::string& doubled = rate == &p.nvlink_bandwidth
                                 ? faster.nvlink_bandwidth
                             : rate == &p.bandwidth ? faster.bandwidth
                                                    : faster.asw_psw_bandwidth;
      doubled =
          fmt::format("{}bps", 2 * before.num_nodes() * int64_t{1'000'000'000});
      *rate = fmt::format("{}bps", before.num_nodes() * int64_t{1'000'000'000});
      const Topology slow = ValueOrDie(BuildCluster(p));
      const Topology fast = ValueOrDie(BuildCluster(faster));
      for (const CollectiveKind kind :
           {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
        const uint32_t size = 2u << (random() % 3);
        const Groups groups = {Ranks(0, size, 1), Ranks(size, size, 1)};
        const Bytes bytes(static_cast<int64_t>(1 + random() % 100'000'000));
        EXPECT_LE(TimeOfFirst(kind, bytes, groups, fast),
                  TimeOfFirst(kind, bytes, groups, slow));
      }
    }
  }
}

}  // namespace
}  // namespace astra
