#include "astra-core/engine/message_costs.h"

#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

// Two servers of two ranks and one NVSwitch: members 0 to 3, 4 and 5; then a
// switch of the fabric, 6.
GroupLayout TwoServers() {
  GroupLayout layout = GroupLayout::Even(2, 2, 1);
  layout.SetReducers({{}}, {0, 0, 0, 0});
  return layout;
}

Flow FlowBetween(uint32_t source, uint32_t target) {
  return {.source = GroupRank(source),
          .target = GroupRank(target),
          .first_chunk = ChunkId(0),
          .bytes = Bytes(100)};
}

TEST(MessageCostsTest, DependOnWhereAMessageGoes) {
  const GroupLayout layout = TwoServers();
  const MessageCosts costs = {
      .per_message = TimePs(1),
      .wire_bytes_per_byte = 2,
      .within = {.latency = TimePs(20), .wire_bytes_per_byte = 1.5},
      .between = {.latency = TimePs(400), .wire_bytes_per_byte = 1.25}};
  struct Sent {
    uint32_t source;
    uint32_t target;
    TimePs before;
    Bytes on_wire;
  };
  for (const Sent& sent : {
           Sent{0, 1, TimePs(21), Bytes(300)},   // Within a server.
           Sent{1, 2, TimePs(401), Bytes(250)},  // Between servers.
           Sent{0, 4, TimePs(11), Bytes(300)},   // One end is a rank.
           Sent{5, 3, TimePs(11), Bytes(300)},
           Sent{3, 6, TimePs(201), Bytes(250)},
           Sent{4, 6, TimePs(1), Bytes(250)},  // None is.
       }) {
    const Flow flow = FlowBetween(sent.source, sent.target);
    EXPECT_EQ(costs.BeforeSending(FlowId(0), flow, &layout), sent.before)
        << sent.source << " to " << sent.target;
    EXPECT_EQ(costs.OnWire(flow, &layout), sent.on_wire)
        << sent.source << " to " << sent.target;
  }
}

// A thread block of Hopper moves 36.7 GB/s; a GPU's links carry 450 and 50, or
// 25 and 5 as drawn at a slower rate.
TEST(MessageCostsTest, FewConnectionsLimitTheRateOfALink) {
  const SystemSpec system = *FindSystem("dgx-h100");
  SystemSpec slow = system;
  slow.interconnect.GBps = 25;
  slow.nic_GBps = 5;
  const auto costs = [&](uint32_t connections, const SystemSpec& drawn) {
    const Topology topology = ValueOrDie(BuildSystemTopology(drawn, 16, 8));
    return CostsOfSimple(
        system, /*is_one_server=*/false, CollectiveKind::kAllReduce, "own",
        Launch::kHost,
        ThreadBlocksOf(connections, system.architecture, topology));
  };
  const MessageCosts one = costs(1, system);
  EXPECT_NEAR(one.within.wire_bytes_per_byte, 450 / 36.7, 1e-9);
  EXPECT_NEAR(one.between.wire_bytes_per_byte, 50 / 36.7, 1e-9);
  EXPECT_NEAR(costs(4, system).within.wire_bytes_per_byte, 450 / 36.7 / 4,
              1e-9);
  const MessageCosts free =
      CostsOfSimple(system, /*is_one_server=*/false, CollectiveKind::kAllReduce,
                    "own", Launch::kHost);
  EXPECT_EQ(costs(24, system), free);
  EXPECT_EQ(costs(1, slow), free);
  SystemSpec several = system;  // NVSwitches share the rate of a GPU.
  several.nv_switches_per_server = 4;
  EXPECT_NEAR(costs(1, several).within.wire_bytes_per_byte, 450 / 36.7, 1e-9);
}

TEST(MessageCostsTest, FlowsOfARangeAreLater) {
  const MessageCosts costs = {
      .per_message = TimePs(1),
      .later = {.begin = 4, .end = 8, .delay = TimePs(30)}};
  const auto before = [&](uint64_t id) {
    return costs.BeforeSending(FlowId(id), FlowBetween(0, 1), nullptr);
  };
  EXPECT_EQ(before(3), TimePs(1));
  EXPECT_EQ(before(4), TimePs(31));
  EXPECT_EQ(before(7), TimePs(31));
  EXPECT_EQ(before(8), TimePs(1));
}

TEST(MessageCostsTest, WhatTheNetworkCarriesIsRoundedUp) {
  const MessageCosts ll128 = {.wire_bytes_per_byte = 128.0 / 120};
  Flow flow = FlowBetween(0, 1);
  const auto carried = [&](const MessageCosts& costs, int64_t bytes) {
    flow.bytes = Bytes(bytes);
    return costs.OnWire(flow, nullptr);
  };
  EXPECT_EQ(carried(ll128, 1200), Bytes(1280));
  EXPECT_EQ(carried(ll128, 1), Bytes(2));
  EXPECT_EQ(carried(ll128, 0), Bytes(0));
  const int64_t large = (int64_t{1} << 62) + 1;
  EXPECT_EQ(carried({}, large), Bytes(large));
}

TEST(MessageCostsTest, ThoseOfNcclComeToThoseOfAllMessages) {
  NcclMessages nccl;
  nccl.start_us = 8.4;
  nccl.least_us = 26;
  nccl.within = {3.4, 2};
  nccl.between = {14, 1.5};
  const MessageCosts costs =
      CostsOf(nccl, {.per_message = TimePs(7),
                     .between = {.latency = Microseconds(1)},
                     .start = Microseconds(2)});
  EXPECT_EQ(costs.per_message, TimePs(7));
  EXPECT_EQ(costs.within,
            (HopCosts{.latency = TimePs(3'400'000), .wire_bytes_per_byte = 2}));
  EXPECT_EQ(costs.between, (HopCosts{.latency = Microseconds(15),
                                     .wire_bytes_per_byte = 1.5}));
  EXPECT_EQ(costs.start, TimePs(10'400'000));
  EXPECT_EQ(costs.least, Microseconds(26));
}

}  // namespace
}  // namespace astra
