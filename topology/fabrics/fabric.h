// Fabrics that a file declares, from which `gen_topo --fabric FILE` draws a
// topology: servers, their NICs, and a design of switches that joins them.
//
// To add a design, write fabrics/NAME.cc, declare its function in
// fabrics/registry.h, add its line to the table in registry.cc, and a case to
// tests/topology/fabrics/fabrics_test.cc.

#ifndef TOPOLOGY_FABRICS_FABRIC_H_
#define TOPOLOGY_FABRICS_FABRIC_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/yaml_reader.h"
#include "topology/fabrics/cable.h"
#include "topology/fabrics/server.h"
#include "topology/storage.h"
#include "topology/topology.h"
#include "topology/topology_builder.h"

namespace astra {

struct FabricSpec;

// The builder of a topology, with the words of a fabric.
class FabricDrawing {
 public:
  explicit FabricDrawing(const FabricSpec& spec);

  // Returns `count` new switches of the fabric.
  std::vector<NodeId> AddSwitches(uint32_t count);

  // Adds a cable. Only the first error of all is kept; see Finish().
  void Cable(NodeId a, NodeId b, const CableSpec& cable);

  // Adds a cable from a NIC of a server to a switch of one plane.
  void CableNic(uint32_t server, uint32_t nic, NodeId to);

  // Returns the node that the cables of a NIC leave from: its GPU, or the NIC
  // itself if several GPUs share it.
  NodeId NicNode(uint32_t server, uint32_t nic) const;

  // The number of NICs of a server.
  uint32_t nics_per_server() const;

  // Records an error of the design. Once there is one, no more switches are
  // added.
  void Error(std::string_view message);
  bool ok() const { return status_.ok(); }

  // Returns the topology. Errors: the first that was recorded; those of
  // TopologyBuilder; a FieldError for an override of a cable that does not
  // exist.
  absl::StatusOr<Topology> Finish() &&;

  const FabricSpec& spec() const { return spec_; }

 private:
  // Returns the GPU of a server.
  NodeId Gpu(uint32_t server, uint32_t gpu) const;

  void AddServers();
  void AddNvSwitches(uint32_t server, NodeId first);
  void AddSharedNics();

  const FabricSpec& spec_;
  TopologyBuilder builder_;
  absl::Status status_;
  uint32_t num_nodes_;
  // By the ends, the lower first: the number of an override not yet used.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> overrides_;
  // By NIC of a server: its place among those that GPUs share.
  std::vector<uint32_t> shared_place_;
  uint32_t num_shared_nics_ = 0;  // Of each server.
  uint32_t first_shared_nic_ = 0;
};

// A design of switches with its parameters.
class FabricDesign {
 public:
  virtual ~FabricDesign() = default;

  // Joins the servers `first` to `end` - 1 in one plane. Returns the switches
  // that stand highest, which sites are joined by.
  virtual std::vector<NodeId> Draw(uint32_t first, uint32_t end, uint32_t plane,
                                   FabricDrawing& drawing) const = 0;
};

struct FabricKind {
  std::string_view name;         // Spelling of `kind`.
  std::string_view description;  // One line.
  // Reads the parameters of the design. `nics` are those of the file.
  std::unique_ptr<FabricDesign> (*read)(const ServerSpec& servers,
                                        const NicSpec& nics,
                                        YamlFields& fields);
};

// Sites that are far from one another: each has an equal part of the servers
// and a fabric of its own. The highest switches of a site are linked to its
// `routers`, and router i of each site to router i of every other.
struct SitesSpec {
  uint32_t count = 1;
  uint32_t routers = 1;
  CableSpec uplink;  // From the highest switches of a site to its routers.
  CableSpec cable;   // Between sites.
};

// A cable that is not as the design says.
struct CableOverride {
  NodeId a;
  NodeId b;
  CableSpec cable;
};

struct FabricSpec {
  ServerSpec servers;
  NicSpec nics;
  std::shared_ptr<const FabricDesign> design;
  SitesSpec sites;
  std::vector<CableOverride> overrides;  // Not of storage servers.
  std::optional<StorageSpec> storage;
};

// Draws the topology. Errors: those of FabricDrawing::Finish(), and a
// FieldError for those of WithStorage.
absl::StatusOr<Topology> DrawFabric(const FabricSpec& spec);

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_FABRIC_H_
