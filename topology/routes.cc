#include "topology/routes.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Limit that keeps the rate of many links together within 63 bits.
constexpr double kMaxBandwidth = 9e18;

}  // namespace

Routes::Routes(const Topology& topology)
    : topology_(topology),
      graph_(topology, FabricGraph::Bundles::kFind),
      attachments_(topology, graph_),
      place_of_(graph_.num_vertices(), FabricGraph::kUnreached) {}

absl::StatusOr<Route> Routes::FindNodes(NodeId source, NodeId target) {
  if (const auto link = attachments_.FindLink(source, target)) {
    Route route;
    route.first.push_back({*link, 1});
    route.num_hops = 1;
    route.latency = topology_.type(*link).latency;
    return route;
  }
  NearestWays<Way> nearest;
  attachments_.ForEachCommonFabric(
      source, target, [&](const Attachment& ours, const Attachment& theirs) {
        const FabricRouteId id =
            FabricRouteBetween(ours.switches, theirs.switches);
        const FabricRoute& fabric = fabric_route(id);
        nearest.Offer(fabric.num_hops, topology_.kind(fabric.entries.front()),
                      graph_.is_nvlink(ours.fabric), {id, &ours, &theirs});
      });
  if (nearest.ways().empty()) {
    return absl::FailedPreconditionError(fmt::format(
        "no path leads from {} to {} without passing through another GPU",
        topology_.NodeName(source), topology_.NodeName(target)));
  }
  return Join(source, nearest.ways(), target);
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

// Joins the ways, which all have the same number of hops, to a route. The share
// of a fabric is proportional to the number of its entries.
Route Routes::Join(NodeId source, absl::Span<const Way> ways,
                   NodeId target) const {
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
    route.num_hops =
        fabric.num_hops + topology_.IsHost(source) + topology_.IsHost(target);
    route.parts.push_back({way.fabric, share});
    for (const NodeId entry : fabric.entries) {
      if (!topology_.IsHost(source)) break;
      const LinkId link = Reverse(*attachments_.LinkFrom(entry, *way.source));
      route.first.push_back({link, entry_share});
      slowest_first = std::max(slowest_first, topology_.type(link).latency);
    }
    for (const FabricRoute::Exit& exit : fabric.exits) {
      if (!topology_.IsHost(target)) break;
      const LinkId link = *attachments_.LinkFrom(exit.node, *way.target);
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
  const uint64_t key = uint64_t{sources.index()} << 32 | targets.index();
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
  const std::vector<NodeId>& source_nodes = attachments_.switches(sources);
  const std::vector<NodeId>& target_nodes = attachments_.switches(targets);
  FabricRoute route;
  if (source_nodes.size() == 1 && source_nodes == target_nodes) {
    route.entries = source_nodes;
    route.exits.push_back({source_nodes.front(), 1});
    return route;
  }

  graph_.Search(source_nodes, target_nodes);
  NearestWays<NodeId> nearest;
  for (const NodeId node : source_nodes) {
    nearest.Offer(graph_.hops(graph_.VertexOf(node)), topology_.kind(node),
                  /*is_nvlink=*/false, node);
  }
  route.num_hops = nearest.num_hops();
  route.entries.assign(nearest.ways().begin(), nearest.ways().end());
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
      if (place == FabricGraph::kUnreached) {
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
  for (const Stop& stop : next_stops)
    place_of_[stop.vertex] = FabricGraph::kUnreached;
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
