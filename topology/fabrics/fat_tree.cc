// Fat trees of one to three tiers, with rails and oversubscription.
//
// Leaves have `down` ports for NICs. A pod is the leaves for which a switch of
// the second tier has `down` ports; each leaf of a pod is linked to each of its
// second-tier switches once. Switch i of the second tier of every pod is linked
// to the switches of group i of the third tier, each of which has `down` ports,
// one for each pod.
//
// With rails, NIC r of every server goes to leaf r of its segment, the servers
// for which one set of leaves has ports. With one tier and rails it is the
// rail-only network of W. Wang et al., HotI 2024: GPUs of different rails then
// do not reach one another through switches.
//
// Source: C. Leiserson, "Fat-trees", IEEE Trans. Computers 34(10), 1985; its
// folded Clos form as data centers build it (M. Al-Fares et al., SIGCOMM 2008).

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"
#include "topology/fabrics/registry.h"

namespace astra {
namespace {

constexpr size_t kMostTiers = 3;
constexpr int64_t kMostPorts = 65'536;

struct Tier {
  uint32_t down = 1;  // Ports to the tier below.
  uint32_t up = 0;    // Ports to the tier above; 0 of the highest.
  CableSpec cable;    // To the tier above.
};

class FatTree final : public FabricDesign {
 public:
  FatTree(bool rails, std::vector<Tier> tiers)
      : rails_(rails), tiers_(std::move(tiers)) {}

  std::vector<NodeId> Draw(uint32_t first, uint32_t end, uint32_t /*plane*/,
                           FabricDrawing& drawing) const override {
    std::vector<NodeId> switches = DrawLeaves(first, end, drawing);
    if (tiers_.size() == 1) {
      if (!rails_ && switches.size() > 1) {
        drawing.Error(fmt::format("one tier of {} ports does not hold {} NICs",
                                  tiers_[0].down,
                                  (end - first) * drawing.nics_per_server()));
      }
      return switches;
    }
    std::vector<std::vector<NodeId>> pods = DrawPods(switches, drawing);
    if (tiers_.size() == 2) {
      if (pods.size() > 1) {
        drawing.Error(
            fmt::format("{} leaves, but the second tier has {} ports down",
                        switches.size(), tiers_[1].down));
      }
      return pods.front();
    }
    return DrawCores(pods, drawing);
  }

 private:
  // Leaf r of segment s has number s x rails + r.
  std::vector<NodeId> DrawLeaves(uint32_t first, uint32_t end,
                                 FabricDrawing& drawing) const {
    const uint32_t per_server = drawing.nics_per_server();
    const uint32_t rails = rails_ ? per_server : 1;
    const uint32_t nics = (end - first) * per_server / rails;  // Of a rail.
    const uint32_t segments = (nics + tiers_[0].down - 1) / tiers_[0].down;
    std::vector<NodeId> leaves = drawing.AddSwitches(segments * rails);
    if (leaves.empty()) return leaves;
    for (uint32_t server = first; server < end; ++server) {
      for (uint32_t nic = 0; nic < per_server; ++nic) {
        const uint32_t rail = rails_ ? nic : 0;
        const uint32_t place =
            rails_ ? server - first : (server - first) * per_server + nic;
        drawing.CableNic(server, nic,
                         leaves[place / tiers_[0].down * rails + rail]);
      }
    }
    return leaves;
  }

  // The second tier: for each pod, its switches.
  std::vector<std::vector<NodeId>> DrawPods(const std::vector<NodeId>& leaves,
                                            FabricDrawing& drawing) const {
    std::vector<std::vector<NodeId>> pods;
    const uint32_t per_pod = tiers_[1].down;
    for (size_t begin = 0; begin < std::max<size_t>(1, leaves.size());
         begin += per_pod) {
      pods.push_back(drawing.AddSwitches(tiers_[0].up));
      const size_t last = std::min<size_t>(leaves.size(), begin + per_pod);
      for (size_t leaf = begin; leaf < last; ++leaf) {
        for (const NodeId above : pods.back()) {
          drawing.Cable(leaves[leaf], above, tiers_[0].cable);
        }
      }
    }
    return pods;
  }

  std::vector<NodeId> DrawCores(const std::vector<std::vector<NodeId>>& pods,
                                FabricDrawing& drawing) const {
    if (pods.size() > tiers_[2].down) {
      drawing.Error(fmt::format("{} pods, but the third tier has {} ports down",
                                pods.size(), tiers_[2].down));
      return {};
    }
    std::vector<NodeId> cores;
    for (uint32_t i = 0; i < tiers_[0].up; ++i) {
      const std::vector<NodeId> group = drawing.AddSwitches(tiers_[1].up);
      for (const std::vector<NodeId>& pod : pods) {
        if (pod.empty()) return {};
        for (const NodeId core : group) {
          drawing.Cable(pod[i], core, tiers_[1].cable);
        }
      }
      cores.insert(cores.end(), group.begin(), group.end());
    }
    return cores;
  }

  const bool rails_;
  const std::vector<Tier> tiers_;
};

double RateOf(const std::string& text) {
  const absl::StatusOr<Bandwidth> rate = ParseBandwidth(text);
  return rate.ok() ? static_cast<double>(rate->count()) : 0;
}

// The ports up of a tier whose ports down have `below`: as many as the file
// says, or as its oversubscription needs.
uint32_t ReadUp(const CableSpec& below, const Tier& tier, YamlFields& fields) {
  if (fields.has("up")) {
    if (fields.Value("oversubscription") != nullptr) {
      fields.Error("oversubscription", "no effect beside up");
    }
    return static_cast<uint32_t>(fields.Integer("up", 1, kMostPorts));
  }
  const double wanted = fields.NumberOr("oversubscription", 1, 1e-3, 1e3);
  const double rate = RateOf(tier.cable.rate);
  if (rate == 0) return 1;
  const double ports = tier.down * RateOf(below.rate) / (wanted * rate);
  const double whole = std::round(ports);
  if (whole >= 1 && whole <= kMostPorts && std::abs(ports - whole) < 1e-6) {
    return static_cast<uint32_t>(whole);
  }
  fields.Error("oversubscription",
               fmt::format("{} ports down of {} need {:g} ports up of {}: "
                           "expected a whole number",
                           tier.down, below.rate, ports, tier.cable.rate));
  return 1;
}

std::unique_ptr<FabricDesign> Read(const ServerSpec& servers,
                                   const NicSpec& nics, YamlFields& fields) {
  const bool rails = fields.BoolOr("rails", false);
  if (HasGpuWithSeveralNics(servers) && !rails) {
    fields.Error("rails", "several NICs of a GPU need rails: true");
  }
  std::vector<Tier> tiers;
  CableSpec below = nics.cable;
  std::vector<YamlFields> list = fields.Maps("tiers", "a tier");
  if (list.empty() || list.size() > kMostTiers) {
    fields.Error("tiers", fmt::format("expected 1 to {} tiers", kMostTiers));
  }
  for (size_t i = 0; i < list.size(); ++i) {
    Tier& tier = tiers.emplace_back();
    tier.down = static_cast<uint32_t>(list[i].Integer("down", 1, kMostPorts));
    if (i + 1 < list.size()) {
      tier.cable = ReadCable(below, list[i]);
      tier.up = ReadUp(below, tier, list[i]);
      below = tier.cable;
    }
    list[i].Close();
  }
  return std::make_unique<FatTree>(rails, std::move(tiers));
}

}  // namespace

FabricKind FatTreeFabric() {
  return {"fat-tree", "one to three tiers, rails, oversubscription; rail-only",
          &Read};
}

}  // namespace astra
