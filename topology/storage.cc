#include "topology/storage.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

absl::StatusOr<std::vector<NodeId>> SwitchesOf(const Topology& topology,
                                               const StorageSpec& spec) {
  std::vector<NodeId> switches;
  for (uint32_t i = topology.num_gpus(); i < topology.num_nodes(); ++i) {
    const NodeId node(i);
    if (topology.kind(node) == NodeKind::kSwitch &&
        topology.tier(node) == spec.tier) {
      switches.push_back(node);
    }
  }
  if (switches.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("there is no switch of tier {}", spec.tier));
  }
  if (switches.size() < spec.nics) {
    return absl::InvalidArgumentError(fmt::format(
        "{} NICs of a storage server need as many switches, but tier {} has {}",
        spec.nics, spec.tier, switches.size()));
  }
  return switches;
}

absl::Status CopyCables(const Topology& topology, TopologyBuilder& builder) {
  for (uint32_t i = 0; i < topology.links().size(); i += 2) {
    const Link& link = topology.link(LinkId(i));
    const std::vector<std::string> words =
        absl::StrSplit(topology.type(LinkId(i)).text, ' ');
    ASTRA_ASSIGN_OR_RETURN(const LinkTypeId type,
                           builder.AddLinkType(words[0], words[1], words[2]));
    ASTRA_RETURN_IF_ERROR(builder.AddCable(link.source, link.target, type));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Topology> WithStorage(const Topology& topology,
                                     const StorageSpec& spec) {
  ASTRA_CHECK(topology.num_storage() == 0, "storage servers twice");
  ASTRA_ASSIGN_OR_RETURN(const std::vector<NodeId> switches,
                         SwitchesOf(topology, spec));
  TopologyBuilder builder(topology.num_gpus(), topology.gpus_per_server(),
                          topology.gpu_type());
  for (uint32_t i = topology.num_gpus(); i < topology.num_nodes(); ++i) {
    builder.AddSwitch(topology.kind(NodeId(i)));
  }
  ASTRA_RETURN_IF_ERROR(CopyCables(topology, builder));
  ASTRA_ASSIGN_OR_RETURN(
      const LinkTypeId type,
      builder.AddLinkType(spec.cable.rate, spec.cable.latency,
                          spec.cable.error_rate));
  size_t next = 0;
  for (uint32_t server = 0; server < spec.servers; ++server) {
    const NodeId node = builder.AddSwitch(NodeKind::kSwitch);
    for (uint32_t nic = 0; nic < spec.nics; ++nic) {
      ASTRA_RETURN_IF_ERROR(
          builder.AddCable(switches[next++ % switches.size()], node, type));
    }
  }
  ASTRA_RETURN_IF_ERROR(builder.MakeStorage(spec.servers));
  return std::move(builder).Build();
}

}  // namespace astra
