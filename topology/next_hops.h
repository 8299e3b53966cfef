// Finds the links that lead towards a node, for traffic that is routed hop by
// hop: packets, and flows that take one of several equal-cost paths.
//
// The paths are those of routes.h: they have the fewest links, GPUs never
// forward, and a GPU with a way through an NVSwitch among the shortest uses
// only NVSwitches. In routes.h paths share a message; here each message takes
// one path. Links that are down are not used.
//
// Tables are made when first needed and kept. There is one for each set of
// switches to which targets are linked, so the GPUs of a rail share one. A
// table covers only the switches that are connected with this set, and not the
// last link, to a GPU. Memory: 4 B per link and 8 B per switch for each table;
// 8 B per link of a GPU.

#ifndef TOPOLOGY_NEXT_HOPS_H_
#define TOPOLOGY_NEXT_HOPS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "topology/topology.h"

namespace astra {

class NextHops {
 public:
  // `topology` must outlive the object.
  explicit NextHops(const Topology& topology);
  ~NextHops();
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
  // A neighbour of a GPU and the link to the GPU.
  struct Port {
    NodeId neighbour;
    LinkId link;  // From the neighbour to the GPU.
  };
  // Shortest paths through the switches of one fabric to some of them, its
  // exits.
  struct Table {
    std::vector<uint32_t> hops;   // By place: links to the nearest exit.
    std::vector<uint32_t> first;  // By place, and the end: into `links`.
    std::vector<LinkId> links;    // Next hops; exits have none.
  };
  // A fabric through which a target is reached, and its table; null: not made
  // yet.
  struct Entrance {
    uint32_t fabric;
    const Table* table;
  };

  void FindFabrics();
  void ListPorts();
  void ListEntrances();
  bool IsGpu(NodeId node) const { return node.index() < topology_.num_gpus(); }
  const Port* FindPort(NodeId gpu, NodeId neighbour) const;
  absl::Span<const LinkId> FindFromGpu(NodeId gpu, NodeId target);
  absl::Span<const LinkId> KeepNearest(NodeId gpu);
  uint32_t HopsFrom(NodeId node, NodeId target);
  const Table* TableFor(uint32_t fabric, NodeId target);
  Table MakeTable(uint32_t fabric, const std::vector<NodeId>& exits) const;

  const Topology& topology_;
  std::vector<bool> is_down_;  // By link.

  // A fabric is the switches that are connected with one another without a GPU,
  // in the order in which a search meets them. Most NVSwitches are a fabric
  // each.
  std::vector<uint32_t> fabric_of_;  // By switch.
  std::vector<uint32_t> place_of_;   // By switch: its index in its fabric.
  std::vector<std::vector<NodeId>> fabrics_;

  std::vector<Port> ports_;           // Grouped by GPU, sorted by neighbour.
  std::vector<uint32_t> first_port_;  // By GPU, and the end.
  std::vector<Entrance> entrances_;   // Grouped by node; large fabrics only.
  std::vector<uint32_t> first_entrance_;  // By node, and the end.

  std::map<std::vector<NodeId>, std::unique_ptr<Table>> tables_;  // By exits.
  // Sets of links that Find() has returned, by GPU; each GPU has few.
  std::vector<std::vector<std::vector<LinkId>>> kept_;
  std::vector<LinkId> nearest_;  // Result of FindFromGpu().
};

}  // namespace astra

#endif  // TOPOLOGY_NEXT_HOPS_H_
