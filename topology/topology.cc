#include "topology/topology.h"

#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {

std::string Topology::NodeName(NodeId node) const {
  switch (kind(node)) {
    case NodeKind::kGpu:
      return fmt::format("GPU {}", node);
    case NodeKind::kNvSwitch:
      return fmt::format("NVSwitch {}", node);
    case NodeKind::kSwitch:
      return fmt::format("switch {} (tier {})", node, tier(node));
    case NodeKind::kStorage:
      return fmt::format("storage {}", node);
  }
  ASTRA_CHECK(false, "node kind {}", static_cast<int>(kind(node)));
}

std::string Topology::LinkName(LinkId id) const {
  return fmt::format("{} -> {} at {:.12g} Gbps", NodeName(link(id).source),
                     NodeName(link(id).target), ToGbps(type(id).bandwidth));
}

}  // namespace astra
