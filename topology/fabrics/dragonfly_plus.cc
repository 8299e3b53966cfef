// Dragonfly+: groups of leaves and spines, each leaf linked to each spine of
// its group, and cables between the spines of every two groups.
//
// Source: A. Shpiner et al., "Dragonfly+: low cost topology for scaling
// datacenters", HiPINEB 2017.

#include <algorithm>
#include <string_view>
#include <vector>

#include "fmt/core.h"
#include "topology/fabrics/registry.h"

namespace astra {
namespace {

constexpr int64_t kMostPorts = 65'536;

struct Group {
  uint32_t leaves = 1;
  uint32_t spines = 1;
  uint32_t nics_per_leaf = 1;
  uint32_t global_per_spine = 1;  // Cables of a spine to other groups.
  CableSpec local;
  CableSpec global;
};

class DragonflyPlus final : public FabricDesign {
 public:
  explicit DragonflyPlus(Group group) : group_(std::move(group)) {}

  std::vector<NodeId> Draw(uint32_t first, uint32_t end, uint32_t /*plane*/,
                           FabricDrawing& drawing) const override {
    const uint32_t per_server = drawing.nics_per_server();
    const uint32_t nics = (end - first) * per_server;
    const uint32_t per_group = group_.leaves * group_.nics_per_leaf;
    const uint32_t groups = (nics + per_group - 1) / per_group;
    const uint32_t ports = group_.spines * group_.global_per_spine;
    if (groups > 1 && ports % (groups - 1) != 0) {
      drawing.Error(fmt::format(
          "{} global cables of a group do not divide among {} others", ports,
          groups - 1));
      return {};
    }
    std::vector<std::vector<NodeId>> spines;
    for (uint32_t group = 0; group < groups; ++group) {
      const uint32_t begin = group * per_group;
      spines.push_back(
          DrawGroup(first, begin, std::min(nics, begin + per_group), drawing));
      if (spines.back().empty()) return {};
    }
    JoinGroups(spines, drawing);
    std::vector<NodeId> all;
    for (const auto& of_group : spines) {
      all.insert(all.end(), of_group.begin(), of_group.end());
    }
    return all;
  }

 private:
  // Draws a group for NICs `begin` to `end` - 1 of the servers from `first` on.
  std::vector<NodeId> DrawGroup(uint32_t first, uint32_t begin, uint32_t end,
                                FabricDrawing& drawing) const {
    const uint32_t per_server = drawing.nics_per_server();
    const uint32_t num_leaves =
        (end - begin + group_.nics_per_leaf - 1) / group_.nics_per_leaf;
    const std::vector<NodeId> leaves = drawing.AddSwitches(num_leaves);
    std::vector<NodeId> spines = drawing.AddSwitches(group_.spines);
    if (leaves.empty() || spines.empty()) return {};
    for (uint32_t nic = begin; nic < end; ++nic) {
      drawing.CableNic(first + nic / per_server, nic % per_server,
                       leaves[(nic - begin) / group_.nics_per_leaf]);
    }
    for (const NodeId leaf : leaves) {
      for (const NodeId spine : spines) {
        drawing.Cable(leaf, spine, group_.local);
      }
    }
    return spines;
  }

  // Cable c between groups a and b leaves the port of a, and of b, that stands
  // for the other group in its c-th round over all other groups.
  void JoinGroups(const std::vector<std::vector<NodeId>>& spines,
                  FabricDrawing& drawing) const {
    const auto groups = static_cast<uint32_t>(spines.size());
    if (groups == 1) return;
    const uint32_t others = groups - 1;
    const uint32_t rounds = group_.spines * group_.global_per_spine / others;
    for (uint32_t a = 0; a < groups; ++a) {
      for (uint32_t b = a + 1; b < groups; ++b) {
        for (uint32_t c = 0; c < rounds; ++c) {
          const uint32_t of_a = c * others + b - 1;
          const uint32_t of_b = c * others + a;
          drawing.Cable(spines[a][of_a / group_.global_per_spine],
                        spines[b][of_b / group_.global_per_spine],
                        group_.global);
        }
      }
    }
  }

  const Group group_;
};

std::unique_ptr<FabricDesign> Read(const ServerSpec& servers,
                                   const NicSpec& nics, YamlFields& fields) {
  const auto ports = [&fields](std::string_view key) {
    return static_cast<uint32_t>(fields.Integer(key, 1, kMostPorts));
  };
  Group group;
  group.leaves = ports("leaves_per_group");
  group.spines = ports("spines_per_group");
  group.nics_per_leaf = ports("nics_per_leaf");
  group.global_per_spine = ports("global_per_spine");
  group.local = ReadCable(nics.cable, fields);
  YamlFields global = fields.Map("global", "a cable");
  group.global = ReadCable(group.local, global);
  global.Close();
  if (HasGpuWithSeveralNics(servers)) {
    fields.Error("nics_per_leaf", "a GPU has one NIC here, not several");
  }
  return std::make_unique<DragonflyPlus>(std::move(group));
}

}  // namespace

FabricKind DragonflyPlusFabric() {
  return {"dragonfly-plus", "groups of leaves and spines, joined all to all",
          &Read};
}

}  // namespace astra
