#include "astra-core/apps/network_summary.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/functional/function_ref.h"
#include "astra-core/results/links_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Kind of a tier. NVSwitches are below the tiers of the fabric; links of
// storage servers are told of last.
enum class LinkTier : uint8_t { kNvlink, kFabric, kStorage };

// The links between two levels, in both directions: kind, lower and upper tier.
using TierKey = std::tuple<LinkTier, uint8_t, uint8_t>;

struct TierUse {
  double bytes = 0;
  LinkId busiest;
  double busy = 0;  // Largest share of the time that a link was busy.
};

bool IsOfStorage(const Topology& topology, const Link& link) {
  return topology.kind(link.source) == NodeKind::kStorage ||
         topology.kind(link.target) == NodeKind::kStorage;
}

TierKey KeyOf(const Topology& topology, const Link& link) {
  const bool is_nvlink = topology.kind(link.source) == NodeKind::kNvSwitch ||
                         topology.kind(link.target) == NodeKind::kNvSwitch;
  if (is_nvlink) return {LinkTier::kNvlink, 0, 0};
  const auto [low, high] =
      std::minmax({topology.tier(link.source), topology.tier(link.target)});
  return {IsOfStorage(topology, link) ? LinkTier::kStorage : LinkTier::kFabric,
          low, high};
}

std::string NameOf(const TierKey& key) {
  const auto [tier, low, high] = key;
  if (tier == LinkTier::kNvlink) return "NVLink";
  if (tier == LinkTier::kStorage) return fmt::format("storage tier {}", high);
  if (high == 0) return "GPU to GPU";
  if (low == 0) return fmt::format("GPU to tier {}", high);
  return fmt::format("tier {} to {}", low, high);
}

std::string SizeText(double bytes) {
  constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  for (const auto& [size, unit] : kUnits) {
    if (bytes >= size) return fmt::format("{:.3f} {}", bytes / size, unit);
  }
  return fmt::format("{:.0f} B", bytes);
}

double PercentOf(TimePs part, TimePs whole) {
  if (whole == TimePs(0)) return 0;
  return 100 * static_cast<double>(part.count()) /
         static_cast<double>(whole.count());
}

// Returns a line for each tier. `bytes` gives what a link carried, `share` the
// share of the time for which it was busy.
std::string DescribeTiers(const Topology& topology,
                          absl::FunctionRef<double(uint32_t)> bytes,
                          absl::FunctionRef<double(uint32_t)> share) {
  std::map<TierKey, TierUse> tiers;
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    TierUse& tier = tiers[KeyOf(topology, topology.links()[i])];
    const double carried = bytes(i);
    if (carried == 0) continue;
    tier.bytes += carried;
    const double busy = share(i);
    if (busy > tier.busy) {
      tier.busy = busy;
      tier.busiest = LinkId(i);
    }
  }
  std::string text;
  for (const auto& [key, use] : tiers) {
    text += fmt::format("  {:<15}", NameOf(key));
    text += use.bytes == 0 ? "carried nothing\n"
                           : fmt::format("{:>11}, busiest {:5.1f} % used: {}\n",
                                         SizeText(use.bytes), 100 * use.busy,
                                         topology.LinkName(use.busiest));
  }
  return text;
}

// Links among which paths are chosen: those of one make that lead from one node
// up to switches of one tier, or from these switches down to the node.
struct Peers {
  double bytes = 0;
  uint32_t number = 0;
  LinkId busiest;
  double most = 0;  // Bytes of the busiest link.

  double factor() const { return most * number / bytes; }
};

// Returns the peers whose busiest link carried the most beyond their mean; none
// if no node has a choice of links, or no such link carried anything.
std::optional<Peers> MostUneven(const Topology& topology,
                                const NetworkStatistics& network) {
  // Key: the node below, whether the links lead up from it, the upper tier, the
  // make.
  std::map<std::tuple<uint32_t, bool, uint8_t, uint32_t>, Peers> all;
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const Link& link = topology.links()[i];
    const uint8_t from = topology.tier(link.source);
    const uint8_t to = topology.tier(link.target);
    if (from == to || IsOfStorage(topology, link)) continue;
    const bool is_up = to > from;
    const NodeId below = is_up ? link.source : link.target;
    Peers& peers =
        all[{below.index(), is_up, std::max(from, to), link.type.index()}];
    ++peers.number;
    const double bytes = network.links[i].bytes;
    peers.bytes += bytes;
    if (bytes > peers.most) {
      peers.most = bytes;
      peers.busiest = LinkId(i);
    }
  }
  std::optional<Peers> worst;
  for (const auto& [key, peers] : all) {
    if (peers.number < 2 || peers.bytes == 0) continue;
    const auto excess = [](const Peers& p) {
      return p.most - p.bytes / p.number;
    };
    if (!worst || excess(peers) > excess(*worst)) worst = peers;
  }
  return worst;
}

std::string DescribePaths(const Topology& topology,
                          const NetworkStatistics& network, TimePs end) {
  constexpr double kEven = 1.05;
  const std::optional<Peers> worst = MostUneven(topology, network);
  if (!worst) return "";
  if (worst->factor() < kEven) {
    return "  equal-cost links carried the same, to within 5 %\n";
  }
  const TimePs busy = network.links[worst->busiest.index()].busy;
  return fmt::format(
      "  uneven paths: {} carried {:.2f} times the mean of {} equal-cost "
      "links, {:.1f} % used\n",
      topology.LinkName(worst->busiest), worst->factor(), worst->number,
      PercentOf(busy, end));
}

std::string DescribeCongestion(const NetworkStatistics& network,
                               std::string_view control) {
  uint64_t marked = 0;
  uint64_t pauses = 0;
  TimePs longest;
  for (const LinkRecord& link : network.links) {
    marked += link.marked;
    pauses += link.pauses;
    longest = std::max(longest, link.paused);
  }
  if (marked == 0 && pauses == 0 && network.num_drops == 0) {
    // These two controls act on marks alone; the others also act on times or
    // telemetry.
    const bool acts_on_marks = control == "dcqcn" || control == "dctcp";
    return fmt::format(
        "  congestion: no packet was marked, paused or dropped{}\n",
        acts_on_marks ? fmt::format("; {} never acted", control) : "");
  }
  return fmt::format(
      "  congestion: {} packets marked and {} notifications for {}; {} pauses, "
      "at most {:.3f} us of one link\n",
      marked, network.cnps.size(), control, pauses, ToMicroseconds(longest));
}

// Returns a line if low rates are most likely why the run is slow, else "".
std::string DescribeCollapse(const NetworkStatistics& network,
                             std::string_view control) {
  const double share = PercentOf(network.sending_slowly, network.sending);
  if (share < 50) return "";
  return fmt::format(
      "  {} collapsed: its senders were below 1 % of their line rate for "
      "{:.0f} "
      "% of the time that they sent\n",
      control, share);
}

}  // namespace

std::string DescribeLinkUse(const Topology& topology,
                            const SimulationResult& result) {
  return "network    bytes by tier of links\n" +
         DescribeTiers(
             topology, [&](uint32_t link) { return result.link_bytes[link]; },
             [&](uint32_t link) {
               return UtilisationOf(LinkId(link), topology, result);
             });
}

std::string DescribeNetworkUse(const Topology& topology,
                               const NetworkStatistics& network, TimePs end,
                               std::string_view congestion_control) {
  std::string text;
  if (network.num_packet_hops > 0) {
    text = fmt::format(
        "network    {} packets, {} over links; {} dropped, {} lost, {} sent "
        "again\n",
        network.num_data_packets, network.num_packet_hops, network.num_drops,
        network.num_losses, network.num_retransmissions);
  }
  text += DescribeTiers(
      topology, [&](uint32_t link) { return network.links[link].bytes; },
      [&](uint32_t link) {
        return PercentOf(network.links[link].busy, end) / 100;
      });
  text += DescribePaths(topology, network, end);
  if (!congestion_control.empty()) {
    text += DescribeCongestion(network, congestion_control);
    text += DescribeCollapse(network, congestion_control);
  }
  return text;
}

}  // namespace astra
