// Builds and checks a Topology.

#ifndef TOPOLOGY_TOPOLOGY_BUILDER_H_
#define TOPOLOGY_TOPOLOGY_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace astra {

class TopologyBuilder {
 public:
  // Begins with GPUs 0 .. num_gpus - 1 and no links.
  TopologyBuilder(uint32_t num_gpus, uint32_t gpus_per_server,
                  std::string gpu_type);

  // Appends a switch and returns its id: num_gpus, num_gpus + 1, ...
  // Requires kNvSwitch or kSwitch, and that there are no storage servers yet.
  NodeId AddSwitch(NodeKind kind);

  // Makes the last `count` nodes, which were added as kSwitch, storage servers.
  //
  // Errors: InvalidArgument if they are not all of this kind.
  absl::Status MakeStorage(uint32_t count);

  // Returns the make of links with these properties, spelt as in SimAI's files:
  // a rate, a time, and a probability below 1. Equal spellings give the same
  // make.
  //
  // Errors: InvalidArgument, with the word that is wrong.
  absl::StatusOr<LinkTypeId> AddLinkType(std::string_view bandwidth,
                                         std::string_view latency,
                                         std::string_view error_rate);

  // Adds a cable, which is a link in each direction.
  //
  // Errors: InvalidArgument if an end does not exist, both are one node, or the
  // two are already connected; ResourceExhausted beyond kMaxCables.
  absl::Status AddCable(NodeId a, NodeId b, LinkTypeId type);

  // Checks and returns the topology.
  //
  // Errors: InvalidArgument if there is no GPU, the GPUs do not divide into
  // servers, a node has no cable, an NVSwitch has GPUs of two servers, a
  // storage server has a cable to another node than a kSwitch, or two nodes are
  // not connected but through storage servers; ResourceExhausted beyond
  // kMaxNodes. The message names the lowest node at fault.
  absl::StatusOr<Topology> Build() &&;

 private:
  absl::Status CheckServers() const;
  absl::Status CheckStorage() const;
  absl::Status CheckConnections() const;
  void IndexLinks();
  void FindTiers();

  Topology topology_;
  absl::flat_hash_map<std::string, uint32_t> type_ids_;  // Make by spelling.
  absl::flat_hash_set<uint64_t> connected_;  // Pairs of connected nodes.
};

}  // namespace astra

#endif  // TOPOLOGY_TOPOLOGY_BUILDER_H_
