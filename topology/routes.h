// Finds the links that carry a message from one node to another, and
// the share of each.
//
// The paths are those of path_rule.h. Where several next hops are equally near,
// each carries the same share, as ECMP does on average.
//
// The paths from one set of switches to another are the same for all GPUs below
// them. They are found once, by a search from both ends, and kept. Links to a
// bundle of switches are stored as one LinkRun; see fabric_graph.h.
//
// A search from both ends touches only what lies between them. NextHops has a
// table of all distances to a set of switches instead, because a packet may be
// at any switch; on 131,072 GPUs these tables would take gigabytes.

#ifndef TOPOLOGY_ROUTES_H_
#define TOPOLOGY_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "topology/fabric_graph.h"
#include "topology/path_rule.h"
#include "topology/topology.h"

namespace astra {

// A link and the share of a message that it carries, above 0 and at most 1.
struct LinkShare {
  LinkId link;
  double share = 0;
};

// Two fit in place, because most GPUs have one or two links to a fabric.
using LinkShares = absl::InlinedVector<LinkShare, 2>;

// Links of successive cables in one direction. Each carries the same share.
struct LinkRun {
  LinkId first;
  uint32_t count = 1;
  double share = 0;

  LinkId link(uint32_t i) const { return LinkId(first.index() + 2 * i); }
};

using FabricRouteId = Id<struct FabricRouteTag>;

// Route between two sets of switches, for one unit of traffic that enters in
// equal parts at the sources nearest to the targets.
struct FabricRoute {
  struct Exit {
    NodeId node;
    double share;
  };
  // Sources that are used; none if targets are unreachable.
  std::vector<NodeId> entries;
  // Links between switches; none if entries are exits.
  std::vector<LinkRun> links;
  // Targets that are reached; their shares add up to 1.
  std::vector<Exit> exits;
  uint32_t num_hops = 0;  // Number of links on each path.
  TimePs latency;         // Latency of the slowest path.
};

// Route from one node to another: first links, fabric routes, last links.
// Between nodes that are linked it is only a first link.
struct Route {
  struct Part {
    FabricRouteId fabric;
    double share;
  };
  LinkShares first;  // First links; none if a switch sends to a further node.
  absl::InlinedVector<Part, 2> parts;
  LinkShares last;  // Last links; none to a switch.
  uint32_t num_hops = 0;
  // Propagation delay of the slowest path. Where the switches next to a GPU are
  // connected with one another, it is the sum of the slowest first link, fabric
  // route and last link, which need not lie on one path.
  TimePs latency;
};

class Routes {
 public:
  // `topology` must outlive the routes.
  explicit Routes(const Topology& topology);
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;

  const Topology& topology() const { return topology_; }

  // Returns the route between two different ranks of the topology.
  //
  // Errors: FailedPrecondition if no path leads there without passing through
  // another GPU.
  absl::StatusOr<Route> Find(RankId source, RankId target) {
    return FindNodes(Topology::NodeOf(source), Topology::NodeOf(target));
  }

  // Returns the route between two different nodes, of which either may be a
  // switch or a storage server. A message to a switch ends there.
  absl::StatusOr<Route> FindNodes(NodeId source, NodeId target);

  // Returns the links on which a message on `route` leaves its source.
  LinkShares FirstLinks(const Route& route) const;

  const FabricRoute& fabric_route(FabricRouteId id) const {
    return fabric_routes_[id.index()];
  }
  size_t num_fabric_routes() const { return fabric_routes_.size(); }

  // Returns whether all of a message on `route` takes the same links.
  bool IsOnePath(const Route& route) const;

  // Returns the rate of one message that is alone on `route`: the smallest,
  // over its links, of rate divided by share.
  Bandwidth BottleneckBandwidth(const Route& route) const;

 private:
  // A switch on a path through a fabric, or a bundle of switches.
  struct Stop {
    uint32_t vertex;    // Vertex, or first member of a bundle.
    uint32_t size = 1;  // Number of members.
    double share = 0;   // Share of each member.
    TimePs latency{};   // Latency of the slowest path to here.
  };

  FabricRouteId FabricRouteBetween(SwitchSetId sources, SwitchSetId targets);
  // A way from an attachment of the source to one of the target.
  struct Way {
    FabricRouteId fabric;
    const Attachment* source;
    const Attachment* target;
  };
  Route Join(NodeId source, absl::Span<const Way> ways, NodeId target) const;
  FabricRoute Trace(SwitchSetId sources, SwitchSetId targets);
  std::vector<Stop> NextStops(const std::vector<Stop>& stops,
                              uint32_t hops_left, std::vector<LinkRun>& links);

  const Topology& topology_;
  FabricGraph graph_;
  Attachments attachments_;
  // Index of each vertex among the next stops; working memory of NextStops().
  std::vector<uint32_t> place_of_;
  std::deque<FabricRoute> fabric_routes_;
  absl::flat_hash_map<uint64_t, FabricRouteId> fabric_route_ids_;
};

}  // namespace astra

#endif  // TOPOLOGY_ROUTES_H_
