// Which links carry what one GPU or switch sends to another.
//
// Messages take the paths with the fewest links. GPUs never forward. Where
// several next hops are equally near, each carries the same share, as ECMP does
// on average; but a GPU that has a way through an NVSwitch among them uses
// NVSwitches only.
//
// The paths from one set of switches to another are the same for all the GPUs
// below them. They are found once, by a search from both ends, and kept. What
// the links to a bundle of switches carry is kept once for all of them; see
// fabric_graph.h.

#ifndef TOPOLOGY_ROUTES_H_
#define TOPOLOGY_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "topology/fabric_graph.h"
#include "topology/topology.h"

namespace astra {

// A link and the share of a message that it carries, above 0 and at most 1.
struct LinkShare {
  LinkId link;
  double share = 0;
};

// Most GPUs have one or two links to a fabric.
using LinkShares = absl::InlinedVector<LinkShare, 2>;

// Links of successive cables, all in one direction, which carry the same share
// each.
struct LinkRun {
  LinkId first;
  uint32_t count = 1;
  double share = 0;

  LinkId link(uint32_t i) const { return LinkId(first.index() + 2 * i); }
};

using FabricRouteId = Id<struct FabricRouteTag>;

// The way between switches, for one unit that enters at the sources nearest to
// the targets, the same amount at each.
struct FabricRoute {
  struct Exit {
    NodeId node;
    double share;
  };
  std::vector<NodeId> entries;  // None if the targets cannot be reached.
  std::vector<LinkRun> links;   // None where entries are exits.
  std::vector<Exit> exits;      // The shares add up to 1.
  uint32_t num_hops = 0;        // Links passed.
  TimePs latency;               // Of the slowest of the paths.
};

// The way from one node to another: some first links, fabric routes, last
// links. Between linked nodes it is one first link and nothing else.
struct Route {
  struct Part {
    FabricRouteId fabric;
    double share;
  };
  LinkShares first;  // None from a switch that is further away.
  absl::InlinedVector<Part, 2> parts;
  LinkShares last;  // None to a switch.
  uint32_t num_hops = 0;
  // Propagation delay of the slowest path. Where the switches next to a GPU are
  // connected with one another, that of the slowest first link, way between,
  // and last link, which need not be of one path.
  TimePs latency;
};

class Routes {
 public:
  // `topology` must outlive the routes.
  explicit Routes(const Topology& topology);
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;

  const Topology& topology() const { return topology_; }

  // Requires two different ranks of the topology.
  //
  // Errors: FailedPrecondition if no path leads there without passing through
  // another GPU.
  absl::StatusOr<Route> Find(RankId source, RankId target) {
    return FindNodes(Topology::NodeOf(source), Topology::NodeOf(target));
  }

  // The same between two different nodes, of which either may be a switch: what
  // is sent to a switch ends there.
  absl::StatusOr<Route> FindNodes(NodeId source, NodeId target);

  // The links on which what takes `route` leaves its source.
  LinkShares FirstLinks(const Route& route) const;

  const FabricRoute& fabric_route(FabricRouteId id) const {
    return fabric_routes_[id.index()];
  }
  size_t num_fabric_routes() const { return fabric_routes_.size(); }

  // The rate at which one message moves along `route` with nothing beside it:
  // the smallest, over its links, of rate divided by share.
  Bandwidth BottleneckBandwidth(const Route& route) const;

 private:
  // Several GPUs linked to the same switches share one set of them.
  using SwitchSetId = uint32_t;

  // The switches next to a GPU that are connected with one another, directly
  // or through other switches; or one switch for itself.
  struct Attachment {
    uint32_t component;
    SwitchSetId switches;
    // Of a GPU: where in attachment_links_ its links to them begin, in the same
    // order.
    uint32_t first_link = 0;
  };
  // A switch on the way through a fabric, or a bundle of them.
  struct Stop {
    uint32_t vertex;    // Of the graph; the first member of a bundle.
    uint32_t size = 1;  // The members.
    double share = 0;   // Of each member.
    TimePs latency{};   // Of the slowest path so far.
  };

  void FindAttachments();
  SwitchSetId SetOf(const std::vector<NodeId>& switches);
  bool IsGpu(NodeId node) const { return node.index() < topology_.num_gpus(); }
  absl::Span<const Attachment> AttachmentsOf(NodeId node, Attachment* own);
  FabricRouteId FabricRouteBetween(SwitchSetId sources, SwitchSetId targets);
  // A way from an attachment of the source to one of the target.
  struct Way {
    FabricRouteId fabric;
    Attachment source;
    Attachment target;
  };
  using Ways = absl::InlinedVector<Way, 4>;
  Ways NearestWays(NodeId source, NodeId target);
  Route Join(NodeId source, const Ways& ways, NodeId target) const;
  FabricRoute Trace(SwitchSetId sources, SwitchSetId targets);
  std::vector<Stop> NextStops(const std::vector<Stop>& stops,
                              uint32_t hops_left, std::vector<LinkRun>& links);
  std::optional<LinkId> FindLink(NodeId source, NodeId target) const;
  LinkId LinkFrom(const Attachment& attachment, NodeId fabric_switch) const;

  const Topology& topology_;
  bool has_cables_between_gpus_ = false;
  FabricGraph graph_;
  std::vector<uint32_t> place_of_;  // By vertex, for NextStops().
  std::vector<std::vector<NodeId>> switch_sets_;
  std::map<std::vector<NodeId>, SwitchSetId> switch_set_ids_;
  std::vector<LinkId> attachment_links_;    // From GPUs to switches.
  std::vector<Attachment> attachments_;     // Grouped by GPU.
  std::vector<uint32_t> first_attachment_;  // One per GPU, and the end.
  std::deque<FabricRoute> fabric_routes_;
  absl::flat_hash_map<uint64_t, FabricRouteId> fabric_route_ids_;
};

}  // namespace astra

#endif  // TOPOLOGY_ROUTES_H_
