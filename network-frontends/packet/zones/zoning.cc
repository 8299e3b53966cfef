#include "network-frontends/packet/zones/zoning.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"

namespace astra {
namespace {

// Largest share of all links that a single cluster may have, over the share of
// a zone. One that is larger would make its zone wait for itself.
constexpr double kLargestShare = 1.1;

// Sets of nodes that are merged one by one.
class DisjointSets {
 public:
  explicit DisjointSets(uint32_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  // Returns the lowest node of the set.
  uint32_t Find(uint32_t node) {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }
  void Merge(uint32_t a, uint32_t b) {
    const auto [low, high] = std::minmax({Find(a), Find(b)});
    parent_[high] = low;
  }

 private:
  std::vector<uint32_t> parent_;
};

// Nodes that stay together.
struct Cluster {
  std::vector<NodeId> nodes;
  size_t num_links = 0;  // Links that leave its nodes.
};

TimePs DelayOfCable(const PacketSetup& setup, LinkId link) {
  return std::min(setup.DelayOf(link), setup.DelayOf(Reverse(link)));
}

// Returns the clusters of nodes that links of less than `delay` join, by their
// lowest node.
std::vector<Cluster> ClustersOf(const PacketSetup& setup, TimePs delay) {
  const Topology& topology = setup.topology;
  DisjointSets sets(topology.num_nodes());
  for (uint32_t i = 0; i < topology.links().size(); i += 2) {
    if (DelayOfCable(setup, LinkId(i)) >= delay) continue;
    const Link& link = topology.link(LinkId(i));
    sets.Merge(link.source.index(), link.target.index());
  }
  std::map<uint32_t, Cluster> by_lowest;
  for (uint32_t n = 0; n < topology.num_nodes(); ++n) {
    Cluster& cluster = by_lowest[sets.Find(n)];
    cluster.nodes.emplace_back(n);
    cluster.num_links += topology.links_from(NodeId(n)).size();
  }
  std::vector<Cluster> clusters;
  clusters.reserve(by_lowest.size());
  for (auto& [_, cluster] : by_lowest) clusters.push_back(std::move(cluster));
  return clusters;
}

bool CanBeDealtOut(const std::vector<Cluster>& clusters, uint32_t num_zones) {
  size_t largest = 0;
  size_t all = 0;
  for (const Cluster& cluster : clusters) {
    largest = std::max(largest, cluster.num_links);
    all += cluster.num_links;
  }
  return clusters.size() >= num_zones &&
         static_cast<double>(largest) * num_zones <=
             kLargestShare * static_cast<double>(all);
}

// Gives each zone an equal share of the clusters that look alike; those that
// are too few go where there are the fewest links.
Zoning DealOut(const std::vector<Cluster>& clusters, const Topology& topology,
               uint32_t num_zones) {
  using Look = std::tuple<size_t, size_t, NodeKind, uint8_t>;
  std::map<Look, std::vector<const Cluster*>, std::greater<>> alike;
  for (const Cluster& cluster : clusters) {
    const NodeId first = cluster.nodes.front();
    alike[{cluster.num_links, cluster.nodes.size(), topology.kind(first),
           topology.tier(first)}]
        .push_back(&cluster);
  }
  Zoning zoning;
  zoning.num_zones = num_zones;
  zoning.zone_of.resize(topology.num_nodes());
  std::vector<size_t> links(num_zones);
  for (const auto& [_, same] : alike) {
    for (size_t i = 0; i < same.size(); ++i) {
      const size_t zone =
          same.size() >= num_zones
              ? i * num_zones / same.size()
              : static_cast<size_t>(
                    std::min_element(links.begin(), links.end()) -
                    links.begin());
      links[zone] += same[i]->num_links;
      for (const NodeId node : same[i]->nodes) {
        zoning.zone_of[node.index()] = ZoneId(static_cast<uint32_t>(zone));
      }
    }
  }
  return zoning;
}

// Returns why what happens in one zone may depend at once on another; empty if
// it does not.
std::string_view WhyNotApart(const PacketSetup& setup) {
  const PacketOptions& options = setup.options;
  const RecordOptions& record = options.record;
  const auto& types = setup.topology.link_types();
  const bool has_errors =
      options.error_rate > 0 ||
      std::any_of(types.begin(), types.end(),
                  [](const LinkType& type) { return type.error_rate > 0; });
  const struct {
    bool is_so;
    std::string_view why;
  } reasons[] = {
      {!options.fabric.pfc || !options.nv_switch.pfc,
       "switches without PFC may lose packets"},
      {has_errors, "links with an error rate lose packets"},
      {!options.link_events.empty(), "links change during the run"},
      {!options.background.empty(), "there is background traffic"},
      {options.load_balancing != LoadBalancing::kEcmp,
       "switches balance load packet by packet"},
      {options.nic.queue_pairs != QueuePairs::kPerConnection,
       "each message has a queue pair of its own"},
      {options.nic.completion != Completion::kDelivered,
       "messages arrive when they are acknowledged"},
      {options.nic.packets_per_ack != 1,
       "an acknowledgement answers several packets"},
      {setup.control->telemetry() == Telemetry::kUtilization,
       "the congestion control draws by the number of a queue pair"},
      {record.flows || record.sample_interval || record.captured_link,
       "messages, samples or packets are recorded"},
  };
  for (const auto& [is_so, why] : reasons) {
    if (is_so) return why;
  }
  return {};
}

}  // namespace

absl::StatusOr<Zoning> FindZones(const PacketSetup& setup, uint32_t num_zones) {
  const std::string_view why = WhyNotApart(setup);
  if (!why.empty()) {
    return absl::FailedPreconditionError(std::string(why));
  }
  // Clusters by the least delay of the links between them, the largest first.
  std::map<TimePs, std::vector<Cluster>, std::greater<>> clusters_of;
  for (uint32_t i = 0; i < setup.topology.links().size(); i += 2) {
    const TimePs delay = DelayOfCable(setup, LinkId(i));
    if (delay == TimePs() || clusters_of.contains(delay)) continue;
    clusters_of[delay] = ClustersOf(setup, delay);
  }
  // Windows of half the length are worth it for twice as many zones.
  Zoning best;
  for (const auto& [delay, clusters] : clusters_of) {
    auto zones = std::min(num_zones, static_cast<uint32_t>(clusters.size()));
    while (zones >= 2 && !CanBeDealtOut(clusters, zones)) --zones;
    if (zones < 2 || zones * delay <= best.num_zones * best.lookahead) continue;
    best = DealOut(clusters, setup.topology, zones);
    best.lookahead = delay;
  }
  if (best.num_zones > 0) return best;
  return absl::FailedPreconditionError(
      "no links with a delay divide the cluster into alike zones");
}

}  // namespace astra
