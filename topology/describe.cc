#include "topology/describe.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "astra-core/base/append_format.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Sums over the switches of one kind and tier.
struct Tier {
  int64_t num_switches = 0;
  int64_t num_ports = 0;
  double down_gbps = 0;
  double up_gbps = 0;
  int64_t num_peer_ports = 0;  // Two for each link within the tier.
  double peer_gbps = 0;        // Of those links.
};

std::string_view TierName(int tier) {
  constexpr std::string_view kNames[] = {"NVSwitch", "tier 1 (ASW)",
                                         "tier 2 (PSW)", "tier 3 (core)"};
  return tier < 4 ? kNames[tier] : "tier 4 and above";
}

std::string Line(std::string_view name, const Tier& tier) {
  std::string line =
      fmt::format("  {:<17}{} switches, {} links, {:.12g} Gbps down", name,
                  tier.num_switches, tier.num_ports, tier.down_gbps);
  if (tier.num_peer_ports > 0) {
    line += fmt::format(", {} links of {:.12g} Gbps within the tier",
                        tier.num_peer_ports / 2, tier.peer_gbps);
  }
  if (tier.up_gbps > 0) {
    line += fmt::format(", {:.12g} Gbps up, oversubscription {:.3g}:1",
                        tier.up_gbps, tier.down_gbps / tier.up_gbps);
  }
  return line + '\n';
}

// Cables of storage servers count to no tier.
std::string StorageLine(const Topology& topology) {
  size_t num_links = 0;
  double gbps = 0;
  for (uint32_t i = topology.first_storage(); i < topology.num_nodes(); ++i) {
    for (const LinkId link : topology.links_from(NodeId(i))) {
      ++num_links;
      gbps += ToGbps(topology.type(link).bandwidth);
    }
  }
  return fmt::format("  {:<17}{} server{}, {} links, {:.12g} Gbps\n", "storage",
                     topology.num_storage(),
                     topology.num_storage() == 1 ? "" : "s", num_links, gbps);
}

// Returns the NVSwitches, the switches of each of the tiers 1 to 3, and all
// higher switches together.
std::vector<Tier> TiersOf(const Topology& topology) {
  std::vector<Tier> tiers(5);
  for (uint32_t i = topology.num_gpus(); i < topology.first_storage(); ++i) {
    const NodeId node(i);
    const int own = topology.tier(node);
    Tier& tier = tiers[static_cast<size_t>(std::min(own, 4))];
    ++tier.num_switches;
    for (const LinkId link : topology.links_from(node)) {
      const NodeId other = topology.link(link).target;
      const double gbps = ToGbps(topology.type(link).bandwidth);
      if (topology.kind(other) == NodeKind::kStorage) continue;
      if (topology.kind(other) == topology.kind(node) &&
          topology.tier(other) == own) {
        ++tier.num_peer_ports;
        tier.peer_gbps += gbps / 2;
        continue;
      }
      ++tier.num_ports;
      (topology.tier(other) > own ? tier.up_gbps : tier.down_gbps) += gbps;
    }
  }
  return tiers;
}

}  // namespace

std::string DescribeTopology(const Topology& topology) {
  const std::vector<Tier> tiers = TiersOf(topology);
  std::string text;
  AppendFormat(&text, "  {:<17}{} {} in {} server{} of {}\n", "GPUs",
               topology.num_gpus(), topology.gpu_type(), topology.num_servers(),
               topology.num_servers() == 1 ? "" : "s",
               topology.gpus_per_server());
  for (size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].num_switches == 0) continue;
    text += Line(TierName(static_cast<int>(i)), tiers[i]);
  }
  if (topology.num_storage() > 0) text += StorageLine(topology);
  AppendFormat(&text, "  {:<17}{} nodes, {} links\n", "in all",
               topology.num_nodes(), topology.links().size() / 2);
  for (const LinkType& type : topology.link_types()) {
    AppendFormat(&text, "  {:<17}{:.12g} Gbps, {:.12g} ns, error rate {}\n",
                 "link make", ToGbps(type.bandwidth),
                 static_cast<double>(type.latency.count()) * 1e-3,
                 type.error_rate);
  }
  return text;
}

std::vector<std::string> Oversubscriptions(const Topology& topology) {
  // Relative difference up to which sums of link rates count as equal.
  constexpr double kRounding = 1e-9;
  std::vector<std::string> texts;
  const std::vector<Tier> tiers = TiersOf(topology);
  for (size_t i = 1; i < tiers.size(); ++i) {
    const double down = tiers[i].down_gbps;
    const double up = tiers[i].up_gbps;
    if (up == 0 || down <= up * (1 + kRounding)) continue;
    texts.push_back(
        fmt::format("{} is oversubscribed {:.3g}:1: {} Gbps down, {} Gbps up",
                    TierName(static_cast<int>(i)), down / up, down, up));
  }
  return texts;
}

}  // namespace astra
