// The cluster as a graph: GPUs, switches and storage servers, and the links
// between them.
//
// Every topology is valid, because TopologyBuilder::Build() has checked it. It
// never changes, so all parts of a run may share one.

#ifndef TOPOLOGY_TOPOLOGY_H_
#define TOPOLOGY_TOPOLOGY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

enum class NodeKind : uint8_t {
  kGpu,
  kNvSwitch,  // Connects the GPUs of one server.
  kSwitch,    // Any other switch; tier() is its level.
  kStorage,   // A server without GPUs that messages begin or end at.
};

using LinkTypeId = Id<struct LinkTypeTag>;

// Make of link: the properties that its links share. A cluster has a handful of
// makes and may have a million links.
struct LinkType {
  Bandwidth bandwidth;    // Rate in each direction.
  TimePs latency;         // Propagation delay.
  double error_rate = 0;  // Probability that a packet is lost.
  std::string text;       // The three, as in a file: "400Gbps 500ns 0".
};

// One direction of a cable.
struct Link {
  NodeId source;
  NodeId target;
  LinkTypeId type;
};
static_assert(sizeof(Link) == 12, "a cluster may have 10^6 of them");

// Returns the same cable in the opposite direction.
constexpr LinkId Reverse(LinkId link) { return LinkId(link.index() ^ 1); }

class Topology {
 public:
  // Limits, far beyond any real cluster.
  static constexpr int64_t kMaxNodes = int64_t{1} << 24;
  static constexpr int64_t kMaxCables = int64_t{1} << 27;

  // GPUs are nodes 0 .. num_gpus() - 1, and rank r runs on node r. The GPUs of
  // server s have ranks s * gpus_per_server() onwards.
  uint32_t num_gpus() const { return num_gpus_; }
  uint32_t gpus_per_server() const { return gpus_per_server_; }
  uint32_t num_servers() const { return num_gpus_ / gpus_per_server_; }
  uint32_t num_nodes() const { return static_cast<uint32_t>(kinds_.size()); }

  // Storage servers are the nodes from first_storage() on, behind all switches.
  // They have no rank.
  uint32_t num_storage() const { return num_storage_; }
  uint32_t first_storage() const { return num_nodes() - num_storage_; }
  uint32_t num_switches() const { return first_storage() - num_gpus_; }

  // Returns the name of the GPUs in the file, such as "H100".
  const std::string& gpu_type() const { return gpu_type_; }

  NodeKind kind(NodeId node) const { return kinds_[node.index()]; }

  // Returns whether messages begin and end at `node`, which then never forwards
  // those of others: whether it is a GPU or a storage server.
  bool IsHost(NodeId node) const {
    return node.index() < num_gpus_ || node.index() >= first_storage();
  }

  // Returns 0 for GPUs, NVSwitches and storage servers. For other switches,
  // returns the number of links to the nearest GPU: 1 for a ToR or leaf switch,
  // 2 for the tier above.
  uint8_t tier(NodeId node) const { return tiers_[node.index()]; }

  static NodeId NodeOf(RankId rank) { return NodeId(rank.index()); }
  uint32_t ServerOf(RankId rank) const {
    return rank.index() / gpus_per_server_;
  }

  // Returns both directions of every cable. Cable i of the file is link 2 i, in
  // the listed direction, and link 2 i + 1, in the opposite direction.
  absl::Span<const Link> links() const { return links_; }
  const Link& link(LinkId id) const { return links_[id.index()]; }
  absl::Span<const LinkType> link_types() const { return link_types_; }
  const LinkType& type(LinkId id) const {
    return link_types_[link(id).type.index()];
  }

  // Returns the links that leave `node`, in the order of the file.
  absl::Span<const LinkId> links_from(NodeId node) const {
    const uint32_t begin = first_link_[node.index()];
    const uint32_t end = first_link_[node.index() + 1];
    return absl::MakeConstSpan(links_from_).subspan(begin, end - begin);
  }

  // Returns a name such as "GPU 3", "NVSwitch 130", "switch 144 (tier 1)",
  // "storage 160".
  std::string NodeName(NodeId node) const;

  // Returns a name such as "GPU 3 -> NVSwitch 130 at 2880 Gbps".
  std::string LinkName(LinkId link) const;

 private:
  friend class TopologyBuilder;
  Topology() = default;

  uint32_t num_gpus_ = 0;
  uint32_t gpus_per_server_ = 1;
  uint32_t num_storage_ = 0;
  std::string gpu_type_;
  std::vector<NodeKind> kinds_;  // Kind of each node.
  std::vector<uint8_t> tiers_;   // Tier of each node.
  std::vector<Link> links_;      // Links by id.
  std::vector<LinkType> link_types_;
  // By node: begin in links_from_; and the end.
  std::vector<uint32_t> first_link_;
  // Links that leave each node, grouped by node.
  std::vector<LinkId> links_from_;
};

}  // namespace astra

#endif  // TOPOLOGY_TOPOLOGY_H_
