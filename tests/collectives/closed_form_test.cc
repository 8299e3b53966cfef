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
  EXPECT_EQ(TimeOfFirst(CollectiveKind::kAllToAll, Bytes(800'000),
                        {Ranks(0, 8, 1)}, Star(2, 4)),
            Microseconds(8));
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
