// The rule by which messages choose their paths through a cluster. The two
// classes that find paths follow it here: Routes finds the paths that share a
// message, and NextHops finds one path hop by hop.
//
// The rule:
//   1. A message takes the paths with the fewest links.
//   2. Hosts, which are GPUs and storage servers, never forward. A path is one
//      link, or it leads from a host to a switch, through one fabric (the
//      switches that are connected with one another without hosts), and from a
//      switch to a host.
//   3. A GPU with an NVSwitch among the switches that begin its shortest paths
//      uses only NVSwitches.
//   4. Before all that, a fabric that consists of NVSwitches is taken where it
//      joins the two GPUs: with several levels of NVSwitches, a NIC may be
//      fewer links away, and is not taken.
//
// Part 2 is the work of FabricGraph, which has no links to hosts, and of
// Attachments, which lists the fabrics that lead from one node to another.
// Parts 1 and 3 are the work of NearestWays, which chooses among them.

#ifndef TOPOLOGY_PATH_RULE_H_
#define TOPOLOGY_PATH_RULE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "topology/fabric_graph.h"
#include "topology/topology.h"

namespace astra {

// Chooses the nearest of the ways that it is offered, in the order of offers.
template <class Way>
class NearestWays {
 public:
  // Offers a way of `num_hops` links from its first switch to the last one, in
  // a fabric that consists of NVSwitches or does not. With kUnreached hops it
  // leads nowhere and is left out.
  void Offer(uint32_t num_hops, NodeKind first_switch, bool is_nvlink,
             const Way& way) {
    if (num_hops == FabricGraph::kUnreached) return;
    const Rank rank = {!is_nvlink, num_hops,
                       first_switch != NodeKind::kNvSwitch};
    if (rank > best_) return;
    if (rank < best_) ways_.clear();
    best_ = rank;
    ways_.push_back(way);
  }

  const absl::InlinedVector<Way, 4>& ways() const { return ways_; }

  // Returns the number of hops of each chosen way; kUnreached if there is none.
  uint32_t num_hops() const { return std::get<uint32_t>(best_); }

 private:
  // NVLink is better, then fewer hops, then an NVSwitch.
  using Rank = std::tuple<bool, uint32_t, bool>;

  Rank best_ = {true, FabricGraph::kUnreached, true};
  absl::InlinedVector<Way, 4> ways_;
};

using SwitchSetId = Id<struct SwitchSetTag>;

// How a node is attached to one fabric. A host is attached by the switches to
// which it is linked; a switch is attached by itself, without a link.
struct Attachment {
  uint32_t fabric;  // Component of the graph of switches.
  SwitchSetId switches;
  uint32_t first_link = 0;  // Begin of its links, for LinksTo().
  uint32_t num_links = 0;   // One link for each switch; 0: this is a switch.
};

// The attachments of all nodes. Hosts that are linked to the same switches, in
// the same order, share one set of switches, so that what is found for a set
// holds for all of them.
class Attachments {
 public:
  // `topology` must outlive the object.
  Attachments(const Topology& topology, const FabricGraph& graph);
  Attachments(const Attachments&) = delete;
  Attachments& operator=(const Attachments&) = delete;

  size_t size() const { return attachments_.size(); }
  size_t IndexOf(const Attachment& attachment) const {
    return static_cast<size_t>(&attachment - attachments_.data());
  }

  // Returns the attachments of `node`, by increasing fabric.
  absl::Span<const Attachment> Of(NodeId node) const {
    const uint32_t begin = first_[node.index()];
    return absl::MakeConstSpan(attachments_)
        .subspan(begin, first_[node.index() + 1] - begin);
  }

  // Calls visit(attachment of source, attachment of target) for each fabric to
  // which both nodes are attached.
  template <class Visitor>
  void ForEachCommonFabric(NodeId source, NodeId target, Visitor visit) const {
    const absl::Span<const Attachment> theirs = Of(target);
    size_t j = 0;
    for (const Attachment& ours : Of(source)) {
      while (j < theirs.size() && theirs[j].fabric < ours.fabric) ++j;
      if (j == theirs.size()) break;
      if (theirs[j].fabric == ours.fabric) visit(ours, theirs[j]);
    }
  }

  const std::vector<NodeId>& switches(SwitchSetId set) const {
    return *switch_sets_[set.index()];
  }

  // Returns the links from the switches of `attachment` to its host, in the
  // same order; none if it is the attachment of a switch.
  absl::Span<const LinkId> LinksTo(const Attachment& attachment) const {
    return absl::MakeConstSpan(links_).subspan(attachment.first_link,
                                               attachment.num_links);
  }

  // Returns the link from one switch to the host of `attachment`, or null if
  // there is none.
  const LinkId* LinkFrom(NodeId fabric_switch,
                         const Attachment& attachment) const;

  // Returns the link between two nodes, if there is one.
  std::optional<LinkId> FindLink(NodeId source, NodeId target) const;

 private:
  void Attach(NodeId host, const FabricGraph& graph);
  SwitchSetId SetOf(const std::vector<NodeId>& switches);

  const Topology& topology_;
  bool has_cables_between_gpus_ = false;
  std::vector<Attachment> attachments_;  // Grouped by node.
  std::vector<uint32_t> first_;  // By node: begin in attachments_; and the end.
  std::vector<LinkId> links_;    // Links to hosts, grouped by attachment.
  std::map<std::vector<NodeId>, SwitchSetId> switch_set_ids_;
  std::vector<const std::vector<NodeId>*> switch_sets_;  // Keys of the map.
};

}  // namespace astra

#endif  // TOPOLOGY_PATH_RULE_H_
