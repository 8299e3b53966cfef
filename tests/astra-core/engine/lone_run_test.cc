// Collectives that are simulated together and skip rounds, each by itself, end
// and leave behind what they do without that.

#include "astra-core/engine/lone_run.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "astra-core/engine/collective_regions.h"
#include "astra-core/engine/flow_sending.h"
#include "astra-core/engine/message_facts.h"
#include "collectives/registry.h"
#include "network-frontends/packet/packet_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"

namespace astra {
namespace {

using ::astra::testing::Star;
using ::astra::testing::ValueOrDie;

std::shared_ptr<const FlowGraph> RingOf(uint32_t num_ranks, Bytes bytes) {
  const CollectiveAlgorithm algorithm =
      ValueOrDie(FindCollectiveAlgorithm(CollectiveKind::kAllReduce, "ring"));
  const CollectiveRequest request = ValueOrDie(CollectiveRequest::Create(
      CollectiveKind::kAllReduce, bytes,
      std::make_shared<GroupLayout>(GroupLayout::Even(num_ranks, 1))));
  return ValueOrDie(
      algorithm.lower(ValueOrDie(request.With({.num_channels = 1}))));
}

// A ring of every second node of a star, from `first` on.
struct Ring {
  Ring(uint32_t first, uint32_t num_ranks, Bytes bytes, TimePs start,
       ReplaySupport& network)
      : facts(FactsOf(*RingOf(num_ranks, bytes), CollectiveKind::kAllReduce, {},
                      nullptr)) {
    for (uint32_t i = 0; i < num_ranks; ++i) {
      nodes.emplace_back(first + 2 * i);
      collective.starts.push_back({start, GroupRank(i), i});
    }
    collective.of = {first, 0, FlowId()};
    collective.messages.graph = RingOf(num_ranks, bytes);
    collective.messages.nodes = &nodes;
    region.facts = &facts;
    for (const GraphConnection& each : facts.connections) {
      region.connections.push_back(ConnectionOf({.source = each.source,
                                                 .target = each.target,
                                                 .channel = each.channel},
                                                collective.messages, first));
      std::vector<LinkId> there;
      EXPECT_TRUE(
          network.AppendPath(region.connections.back(), &there, &region.links));
      region.first_links.push_back(there.front());
      region.links.insert(region.links.end(), there.begin(), there.end());
    }
    for (std::vector<LinkId>* links : {&region.links, &region.first_links}) {
      std::sort(links->begin(), links->end());
      links->erase(std::unique(links->begin(), links->end()), links->end());
    }
  }

  MessageFacts facts;
  std::vector<NodeId> nodes;
  LoneCollective collective;
  CollectiveRegion region;
};

struct Outcome {
  std::vector<std::tuple<TimePs, uint32_t, uint32_t>> ends;
  std::vector<std::tuple<TimePs, uint64_t, uint64_t>> links;
  uint64_t num_flows = 0;
  uint64_t num_data_packets = 0;
  uint64_t num_packet_hops = 0;
  TimePs sending;
  std::vector<size_t> num_skipped;  // By collective.
};

// Two rings that share no link, of which the second starts later.
Outcome RunRings(bool skips) {
  constexpr uint32_t kRanks = 8;
  const Topology topology = Star(2 * kRanks, 1);
  PacketBackend network(topology, PacketOptions());
  ReplaySupport& support = *network.replay();
  Ring first(0, kRanks, MiB(8), Microseconds(0), support);
  Ring second(1, kRanks, MiB(12), Microseconds(17), support);
  std::vector<LinkId> links = first.region.links;
  links.insert(links.end(), second.region.links.begin(),
               second.region.links.end());
  std::sort(links.begin(), links.end());
  std::vector<Connection> connections = first.region.connections;
  connections.insert(connections.end(), second.region.connections.begin(),
                     second.region.connections.end());
  if (!skips) {
    first.facts.rounds.clear();
    second.facts.rounds.clear();
  }
  FlowCarrier carrier(network);
  std::vector<RoundSkipper> skippers;
  for (const Ring* ring : {&first, &second}) {
    skippers.emplace_back(
        ring->region, ring->collective.of, [] { return uint64_t{0}; }, carrier,
        network);
  }
  const LoneCollective collectives[] = {first.collective, second.collective};
  LoneRun run(collectives, carrier, network);
  support.SkipPackets(0);
  support.StartMeasuring(links, {});
  Outcome outcome;
  for (const RankEnd& end :
       ValueOrDie(run.RunToEnd({.ends = 2 * kRanks}, absl::MakeSpan(skippers),
                               [] { return absl::OkStatus(); }))) {
    outcome.ends.emplace_back(end.time, end.collective, end.rank.index());
  }
  Measurement measured = support.StopMeasuring(connections);
  for (const RoundSkipper& skipper : skippers) {
    skipper.AddSkipped(links, &measured);
    outcome.num_skipped.push_back(skipper.skipped().size());
  }
  for (const LinkTraffic& link : measured.links) {
    outcome.links.emplace_back(link.busy, link.bytes, link.packets);
  }
  outcome.num_flows = measured.num_flows;
  outcome.num_data_packets = measured.num_data_packets;
  outcome.num_packet_hops = measured.num_packet_hops;
  outcome.sending = measured.sending;
  return outcome;
}

TEST(LoneRunTest, CollectivesThatMeetNobodySkipRoundsEachByItself) {
  const Outcome whole = RunRings(/*skips=*/false);
  const Outcome skipping = RunRings(/*skips=*/true);
  EXPECT_EQ(skipping.ends, whole.ends);
  EXPECT_EQ(skipping.links, whole.links);
  EXPECT_EQ(skipping.num_flows, whole.num_flows);
  EXPECT_EQ(skipping.num_data_packets, whole.num_data_packets);
  EXPECT_EQ(skipping.num_packet_hops, whole.num_packet_hops);
  EXPECT_EQ(skipping.sending, whole.sending);
  EXPECT_EQ(whole.num_skipped, (std::vector<size_t>{0, 0}));
  for (const size_t num_skipped : skipping.num_skipped) {
    EXPECT_GT(num_skipped, 0u);
  }
}

}  // namespace
}  // namespace astra
