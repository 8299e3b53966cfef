// SimAI's hash, against choices that SimAI made on ns-3.

#include "network-frontends/packet/simai_hash.h"

#include <vector>

#include "tests/network-frontends/packet/packet_runs.h"

namespace astra {
namespace {

using namespace ::astra::testing;  // NOLINT: what tests are written in.

// A cluster of 256 GPUs: leaf switches 288 to 291 have 64 spines each.
TEST(SimaiHashTest, ChoosesTheSpinesOfSimai) {
  EXPECT_EQ(SimaiHash({122, 130, 10'016}, 289) % 64, 20u);
  EXPECT_EQ(SimaiHash({60, 68, 10'049}, 288) % 64, 42u);
}

TEST(SimaiHashTest, SourcePortsCountMessagesAndDependOnTheSeed) {
  EXPECT_EQ(SimaiSourcePort(7, 1), 10'007);
  EXPECT_EQ(SimaiSourcePort(7, 2), 11'118);
  EXPECT_EQ(SimaiSourcePort(60'000, 1), 70'000 - 65'536);
}

// Node 2 is the leaf of GPU 0; next hops count from the highest node down.
TEST(SimaiHashTest, ThePacketNetworkTakesThatSpine) {
  const Topology topology = TwoSpines(1);
  PacketOptions options = Plain();
  options.ecmp_hash = EcmpHash::kSimai;
  options.nic.queue_pairs = QueuePairs::kPerMessage;
  options.record.flows = true;
  PacketBackend network(topology, options);
  std::vector<Message> messages;
  for (uint32_t i = 0; i < 16; ++i) messages.push_back(From(i, 0, 1, KiB(4)));
  Finish(network, messages);
  const NetworkStatistics& statistics = network.statistics();
  ASSERT_EQ(statistics.flows.size(), 16u);
  for (const FlowRecord& flow : statistics.flows) {
    const uint16_t port = SimaiSourcePort(flow.message.index(), 1);
    const uint32_t choice = SimaiHash({0, 1, port}, 2) % 2;
    const NodeId spine(choice == 0 ? 5 : 4);
    EXPECT_EQ(topology.link(statistics.paths[flow.path + 1]).target, spine);
  }
}

}  // namespace
}  // namespace astra
