#include "topology/routes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Limit that keeps the rate of many links together within 63 bits.
constexpr double kMaxBandwidth = 9e18;

constexpr uint32_t kUnreached = FabricGraph::kUnreached;

}  // namespace

Routes::Routes(const Topology& topology)
    : topology_(topology),
      graph_(topology),
      place_of_(graph_.num_vertices(), kUnreached) {
  FindAttachments();
}

void Routes::FindAttachments() {
  std::vector<std::pair<uint32_t, LinkId>> links;  // With their component.
  std::vector<NodeId> switches;
  for (uint32_t gpu = 0; gpu < topology_.num_gpus(); ++gpu) {
    first_attachment_.push_back(static_cast<uint32_t>(attachments_.size()));
    links.clear();
    for (const LinkId link : topology_.links_from(NodeId(gpu))) {
      const NodeId next = topology_.link(link).target;
      if (topology_.kind(next) == NodeKind::kGpu) {
        has_cables_between_gpus_ = true;
        continue;
      }
      links.emplace_back(graph_.component(next), link);
    }
    std::stable_sort(
        links.begin(), links.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < links.size();) {
      const uint32_t component = links[i].first;
      const auto first_link = static_cast<uint32_t>(attachment_links_.size());
      switches.clear();
      for (; i < links.size() && links[i].first == component; ++i) {
        switches.push_back(topology_.link(links[i].second).target);
        attachment_links_.push_back(links[i].second);
      }
      attachments_.push_back({component, SetOf(switches), first_link});
    }
  }
  first_attachment_.push_back(static_cast<uint32_t>(attachments_.size()));
}

Routes::SwitchSetId Routes::SetOf(const std::vector<NodeId>& switches) {
  const auto next_id = static_cast<SwitchSetId>(switch_sets_.size());
  const auto [entry, is_new] = switch_set_ids_.try_emplace(switches, next_id);
  if (is_new) switch_sets_.push_back(switches);
  return entry->second;
}

// Returns the attachments of a node. The attachment of a switch is put into
// `own`.
absl::Span<const Routes::Attachment> Routes::AttachmentsOf(NodeId node,
                                                           Attachment* own) {
  if (!IsGpu(node)) {
    *own = {graph_.component(node), SetOf({node})};
    return absl::MakeConstSpan(own, 1);
  }
  const uint32_t begin = first_attachment_[node.index()];
  const uint32_t end = first_attachment_[node.index() + 1];
  return absl::MakeConstSpan(attachments_).subspan(begin, end - begin);
}

// Finds the link between two nodes. Searches the end with fewer links, since a
// GPU has few.
std::optional<LinkId> Routes::FindLink(NodeId source, NodeId target) const {
  const bool is_forward = topology_.links_from(source).size() <=
                          topology_.links_from(target).size();
  const NodeId from = is_forward ? source : target;
  const NodeId to = is_forward ? target : source;
  for (const LinkId link : topology_.links_from(from)) {
    if (topology_.link(link).target != to) continue;
    return is_forward ? link : LinkId(link.index() ^ 1);
  }
  return std::nullopt;
}

// Returns the link from the GPU of `attachment` to one of its switches.
LinkId Routes::LinkFrom(const Attachment& attachment,
                        NodeId fabric_switch) const {
  const std::vector<NodeId>& switches = switch_sets_[attachment.switches];
  const auto place = std::find(switches.begin(), switches.end(), fabric_switch);
  ASTRA_CHECK(place != switches.end(), "no link to {}", fabric_switch);
  return attachment_links_[attachment.first_link +
                           static_cast<size_t>(place - switches.begin())];
}

absl::StatusOr<Route> Routes::FindNodes(NodeId source, NodeId target) {
  const bool may_be_linked =
      has_cables_between_gpus_ || !IsGpu(source) || !IsGpu(target);
  const std::optional<LinkId> link =
      may_be_linked ? FindLink(source, target) : std::nullopt;
  if (link) {
    Route route;
    route.first.push_back({*link, 1});
    route.num_hops = 1;
    route.latency = topology_.type(*link).latency;
    return route;
  }
  const Ways ways = NearestWays(source, target);
  if (ways.empty()) {
    return absl::FailedPreconditionError(fmt::format(
        "no path leads from {} to {} without passing through another GPU",
        topology_.NodeName(source), topology_.NodeName(target)));
  }
  return Join(source, ways, target);
}

// A message from a switch leaves on the first links of one fabric route.
LinkShares Routes::FirstLinks(const Route& route) const {
  if (!route.first.empty()) return route.first;
  const FabricRoute& fabric = fabric_route(route.parts.front().fabric);
  const NodeId source = fabric.entries.front();
  LinkShares first;
  for (const LinkRun& run : fabric.links) {
    if (topology_.link(run.first).source != source) break;
    for (uint32_t i = 0; i < run.count; ++i) {
      first.push_back({run.link(i), run.share});
    }
  }
  return first;
}

// Finds the shortest ways. Walks the attachments of both nodes, which are
// sorted by component, side by side.
Routes::Ways Routes::NearestWays(NodeId source, NodeId target) {
  // Fewer hops are better; at equal hops an NVSwitch is better.
  std::pair<uint32_t, bool> best = {kUnreached, true};
  Ways nearest;
  Attachment own_of_source, own_of_target;
  const absl::Span<const Attachment> theirs =
      AttachmentsOf(target, &own_of_target);
  size_t j = 0;
  for (const Attachment& ours : AttachmentsOf(source, &own_of_source)) {
    while (j < theirs.size() && theirs[j].component < ours.component) ++j;
    if (j == theirs.size()) break;
    if (theirs[j].component != ours.component) continue;
    const FabricRouteId id =
        FabricRouteBetween(ours.switches, theirs[j].switches);
    const FabricRoute& fabric = fabric_route(id);
    const bool is_plain =
        topology_.kind(fabric.entries.front()) != NodeKind::kNvSwitch;
    const std::pair<uint32_t, bool> rank = {fabric.num_hops, is_plain};
    if (rank > best) continue;
    if (rank < best) nearest.clear();
    best = rank;
    nearest.push_back({id, ours, theirs[j]});
  }
  return nearest;
}

// Joins the ways, which all have the same number of hops, to a route. The share
// of a fabric is proportional to the number of its entries.
Route Routes::Join(NodeId source, const Ways& ways, NodeId target) const {
  size_t num_entries = 0;
  for (const Way& way : ways) {
    num_entries += fabric_route(way.fabric).entries.size();
  }
  const double entry_share = 1 / static_cast<double>(num_entries);
  Route route;
  for (const Way& way : ways) {
    const FabricRoute& fabric = fabric_route(way.fabric);
    TimePs slowest_first, slowest_last;
    const double share =
        static_cast<double>(fabric.entries.size()) * entry_share;
    route.num_hops = fabric.num_hops + IsGpu(source) + IsGpu(target);
    route.parts.push_back({way.fabric, share});
    for (const NodeId entry : fabric.entries) {
      if (!IsGpu(source)) break;
      const LinkId link = LinkFrom(way.source, entry);
      route.first.push_back({link, entry_share});
      slowest_first = std::max(slowest_first, topology_.type(link).latency);
    }
    for (const FabricRoute::Exit& exit : fabric.exits) {
      if (!IsGpu(target)) break;
      const LinkId link(LinkFrom(way.target, exit.node).index() ^ 1);
      route.last.push_back({link, share * exit.share});
      slowest_last = std::max(slowest_last, topology_.type(link).latency);
    }
    route.latency =
        std::max(route.latency, slowest_first + fabric.latency + slowest_last);
  }
  return route;
}

FabricRouteId Routes::FabricRouteBetween(SwitchSetId sources,
                                         SwitchSetId targets) {
  const uint64_t key = uint64_t{sources} << 32 | targets;
  const auto known = fabric_route_ids_.find(key);
  if (known != fabric_route_ids_.end()) return known->second;

  const FabricRouteId id(static_cast<uint32_t>(fabric_routes_.size()));
  fabric_routes_.push_back(Trace(sources, targets));
  fabric_route_ids_.emplace(key, id);
  return id;
}

// Finds the route between two sets of one component, so that there is one: it
// goes from the sources nearest to the targets, always to switches one hop
// nearer.
FabricRoute Routes::Trace(SwitchSetId sources, SwitchSetId targets) {
  const std::vector<NodeId>& source_nodes = switch_sets_[sources];
  const std::vector<NodeId>& target_nodes = switch_sets_[targets];
  FabricRoute route;
  if (source_nodes.size() == 1 && source_nodes == target_nodes) {
    route.entries = source_nodes;
    route.exits.push_back({source_nodes.front(), 1});
    return route;
  }

  graph_.Search(source_nodes, target_nodes);
  const auto hops_from = [&](NodeId node) {
    return graph_.hops(graph_.VertexOf(node));
  };
  route.num_hops = kUnreached;
  for (const NodeId node : source_nodes) {
    route.num_hops = std::min(route.num_hops, hops_from(node));
  }
  for (const NodeId node : source_nodes) {
    if (hops_from(node) == route.num_hops) route.entries.push_back(node);
  }
  const auto is_nv_switch = [&](NodeId node) {
    return topology_.kind(node) == NodeKind::kNvSwitch;
  };
  if (std::any_of(route.entries.begin(), route.entries.end(), is_nv_switch)) {
    std::erase_if(route.entries,
                  [&](NodeId node) { return !is_nv_switch(node); });
  }
  std::vector<Stop> stops;
  for (const NodeId node : route.entries) {
    stops.push_back({.vertex = graph_.VertexOf(node),
                     .share = 1 / static_cast<double>(route.entries.size())});
  }
  for (uint32_t left = route.num_hops; left > 0; --left) {
    stops = NextStops(stops, left - 1, route.links);
  }
  for (const Stop& stop : stops) {
    route.exits.push_back({graph_.NodeOf(stop.vertex), stop.share});
    route.latency = std::max(route.latency, stop.latency);
  }
  route.links.shrink_to_fit();
  return route;
}

// Splits the share of each of `stops` evenly over its links to switches that
// are `hops_left` from the targets, and appends these links.
std::vector<Routes::Stop> Routes::NextStops(const std::vector<Stop>& stops,
                                            uint32_t hops_left,
                                            std::vector<LinkRun>& links) {
  std::vector<Stop> next_stops;
  std::vector<FabricGraph::Edge> nearer;
  for (const Stop& stop : stops) {
    nearer.clear();
    uint32_t num_links = 0;
    graph_.ForEachEdge(stop.vertex, [&](const FabricGraph::Edge& edge) {
      if (graph_.hops(edge.target) != hops_left) return;
      nearer.push_back(edge);
      num_links += edge.size;
    });
    const double share = stop.share / static_cast<double>(num_links);
    for (const FabricGraph::Edge& edge : nearer) {
      // At most one of the two is a bundle.
      links.push_back({edge.first_link, std::max(stop.size, edge.size), share});
      uint32_t& place = place_of_[edge.target];
      if (place == kUnreached) {
        place = static_cast<uint32_t>(next_stops.size());
        next_stops.push_back({.vertex = edge.target, .size = edge.size});
      }
      Stop& there = next_stops[place];
      // The shares are added one by one, so that sums do not depend on bundles.
      for (uint32_t i = 0; i < stop.size; ++i) there.share += share;
      there.latency =
          std::max(there.latency,
                   stop.latency + topology_.type(edge.first_link).latency);
    }
  }
  for (const Stop& stop : next_stops) place_of_[stop.vertex] = kUnreached;
  return next_stops;
}

bool Routes::IsOnePath(const Route& route) const {
  const auto is_whole = [](const auto& part) { return part.share == 1; };
  return std::all_of(route.first.begin(), route.first.end(), is_whole) &&
         std::all_of(route.last.begin(), route.last.end(), is_whole) &&
         std::all_of(route.parts.begin(), route.parts.end(),
                     [&](const Route::Part& part) {
                       const FabricRoute& fabric = fabric_route(part.fabric);
                       return part.share == 1 &&
                              std::all_of(fabric.links.begin(),
                                          fabric.links.end(), is_whole);
                     });
}

Bandwidth Routes::BottleneckBandwidth(const Route& route) const {
  double rate = kMaxBandwidth;
  const auto pass = [&](LinkId link, double share) {
    const auto full =
        static_cast<double>(topology_.type(link).bandwidth.count());
    rate = std::min(rate, full / share);
  };
  for (const LinkShare& part : route.first) pass(part.link, part.share);
  for (const Route::Part& part : route.parts) {
    for (const LinkRun& run : fabric_route(part.fabric).links) {
      pass(run.first, part.share * run.share);
    }
  }
  for (const LinkShare& part : route.last) pass(part.link, part.share);
  return Bandwidth(std::llround(rate));
}

}  // namespace astra
