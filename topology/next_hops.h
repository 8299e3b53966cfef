// Finds the links that lead towards a node, for traffic that is routed hop by
// hop: packets, and flows that take one of several equal-cost paths.
//
// The paths are those of path_rule.h. In routes.h paths share a message; here
// each message takes one path. Links that are down are not used.
//
// Tables are made when first needed and kept. There is one for each set of
// switches to which targets are linked, so the GPUs of a rail share one. A
// table covers only the switches that are connected with this set, and not the
// last link, to a host. Routes has no such table: it searches from both ends,
// over bundles of switches, which a link that is down would break up. Memory:
// 4 B per link and 8 B per switch for each table; 20 B per attachment and 4 B
// per link of a host; 8 B per link between switches.

#ifndef TOPOLOGY_NEXT_HOPS_H_
#define TOPOLOGY_NEXT_HOPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "topology/fabric_graph.h"
#include "topology/path_rule.h"
#include "topology/topology.h"

namespace astra {

class NextHops {
 public:
  // `topology` must outlive the object.
  explicit NextHops(const Topology& topology);
  NextHops(const NextHops&) = delete;
  NextHops& operator=(const NextHops&) = delete;

  // Returns the links from `at` on shortest paths to `target`, by increasing
  // id; none if no path leads there. Requires at != target. The span is valid
  // until SetLinkUp is called.
  absl::Span<const LinkId> Find(NodeId at, NodeId target);

  // Sets whether `link` may be used. At first all links may be.
  void SetLinkUp(LinkId link, bool is_up);

  // Appends to `path` the links of the path that `key` selects: at each node it
  // takes next hop number HashOf(key, node) modulo their count. Returns false,
  // and appends none, if no path leads there. Requires source != target.
  bool AppendEcmpPath(NodeId source, NodeId target, uint64_t key,
                      std::vector<LinkId>* path);

 private:
  // Shortest paths through the switches of one fabric to some of them, its
  // exits. The place of a switch is FabricGraph::place().
  struct Table {
    std::vector<uint32_t> hops;   // By place: links to the nearest exit.
    std::vector<uint32_t> first;  // Begin in `links` by place, and the end.
    std::vector<LinkId> links;    // Next hops; exits have none.
  };
  // Next hops at a switch of a fabric.
  struct Step {
    uint32_t num_hops;  // Links to the nearest exit.
    absl::Span<const LinkId> links;
  };

  absl::Span<const LinkId> FindFromHost(NodeId host, NodeId target);
  absl::Span<const LinkId> Keep(NodeId host, std::vector<LinkId> links);
  Step FromSwitch(NodeId at, const Attachment& target);
  const Table* TableFor(const Attachment& target);
  Table MakeTable(uint32_t fabric, const std::vector<NodeId>& exits) const;

  const Topology& topology_;
  std::vector<bool> is_down_;  // Whether each link is down.
  FabricGraph graph_;
  Attachments attachments_;
  // Table of each attachment; null if it is not known yet.
  std::vector<const Table*> table_of_;
  std::map<std::vector<NodeId>, Table> tables_;  // Tables by their exits.
  // Sets of links that Find() has returned, by host; each host has few.
  std::vector<std::vector<std::vector<LinkId>>> kept_;
};

}  // namespace astra

#endif  // TOPOLOGY_NEXT_HOPS_H_
