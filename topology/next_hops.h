// Which links lead towards a node, for what is routed hop by hop: packets, and
// flows that take one of several equal-cost paths.
//
// The paths are those of routes.h: fewest links, GPUs never forward, and a GPU
// with a way through an NVSwitch among the shortest uses NVSwitches only. There
// the paths share a message; here each is taken whole. Links that are down are
// not used.
//
// Tables are made when first asked for and kept: one for each set of switches
// that targets are linked to, so that the GPUs of a rail share theirs, and only
// of the switches that are connected with those. The last link, to a GPU, is in
// no table. Memory: 4 B per link and 8 B per switch for each table; 8 B per
// link of a GPU.

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

  // The links from `at` that lie on the paths to `target`, by increasing id;
  // none if no path leads there. Requires at != target. The span is good until
  // SetLinkUp is called.
  absl::Span<const LinkId> Find(NodeId at, NodeId target);

  // From now on `link` may be used or not; all may at first.
  void SetLinkUp(LinkId link, bool is_up);

  // Appends to `path` the links of the path that what is hashed to `key` takes:
  // at each node, next hop number HashOf(key, node) modulo how many there are.
  // Returns false, and appends none, if no path leads there. Requires source !=
  // target.
  bool AppendEcmpPath(NodeId source, NodeId target, uint64_t key,
                      std::vector<LinkId>* path);

 private:
  // Where a GPU is linked to a node.
  struct Port {
    NodeId neighbour;
    LinkId link;  // From the neighbour.
  };
  // The ways through the switches of one fabric to some of them, its exits.
  struct Table {
    std::vector<uint32_t> hops;   // By place: links to the nearest exit.
    std::vector<uint32_t> first;  // By place, and the end: into `links`.
    std::vector<LinkId> links;    // None from exits.
  };
  // The fabric through which a target is reached, and how; not known yet: null.
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

  // Switches that are connected with one another without a GPU, in the order in
  // which a search meets them, are a fabric; most NVSwitches are one each.
  std::vector<uint32_t> fabric_of_;  // By switch.
  std::vector<uint32_t> place_of_;   // In its fabric, by switch.
  std::vector<std::vector<NodeId>> fabrics_;

  std::vector<Port> ports_;           // Grouped by GPU, sorted by neighbour.
  std::vector<uint32_t> first_port_;  // By GPU, and the end.
  std::vector<Entrance> entrances_;   // Grouped by node; several switches.
  std::vector<uint32_t> first_entrance_;  // By node, and the end.

  std::map<std::vector<NodeId>, std::unique_ptr<Table>> tables_;  // By exits.
  // What Find() has returned for GPUs: few different sets each.
  std::vector<std::vector<std::vector<LinkId>>> kept_;
  std::vector<LinkId> nearest_;  // What FindFromGpu() has found.
};

}  // namespace astra

#endif  // TOPOLOGY_NEXT_HOPS_H_
