#include "topology/fabrics/fabric.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::pair<uint32_t, uint32_t> EndsOf(NodeId a, NodeId b) {
  return std::minmax(a.index(), b.index());
}

// Joins sites by routers; `tops` are the highest switches of each.
void JoinSites(const std::vector<std::vector<NodeId>>& tops,
               FabricDrawing& drawing) {
  const SitesSpec& sites = drawing.spec().sites;
  std::vector<std::vector<NodeId>> routers;
  for (const std::vector<NodeId>& of_site : tops) {
    routers.push_back(drawing.AddSwitches(sites.routers));
    for (const NodeId top : of_site) {
      for (const NodeId router : routers.back()) {
        drawing.Cable(top, router, sites.uplink);
      }
    }
  }
  if (!drawing.ok()) return;
  for (size_t i = 0; i < routers.size(); ++i) {
    for (size_t j = i + 1; j < routers.size(); ++j) {
      for (uint32_t k = 0; k < sites.routers; ++k) {
        drawing.Cable(routers[i][k], routers[j][k], sites.cable);
      }
    }
  }
}

}  // namespace

FabricDrawing::FabricDrawing(const FabricSpec& spec)
    : spec_(spec),
      builder_(spec.servers.count * spec.servers.gpus, spec.servers.gpus,
               spec.servers.gpu_type),
      num_nodes_(spec.servers.count * spec.servers.gpus) {
  for (uint32_t i = 0; i < spec.overrides.size(); ++i) {
    const CableOverride& each = spec.overrides[i];
    overrides_[EndsOf(each.a, each.b)] = i;
  }
  AddServers();
}

NodeId FabricDrawing::Gpu(uint32_t server, uint32_t gpu) const {
  return NodeId(server * spec_.servers.gpus + gpu);
}

void FabricDrawing::Error(std::string_view message) {
  if (status_.ok()) status_ = FieldError("fabric", message);
}

std::vector<NodeId> FabricDrawing::AddSwitches(uint32_t count) {
  std::vector<NodeId> switches;
  if (!status_.ok()) return switches;
  num_nodes_ += count;
  if (num_nodes_ > Topology::kMaxNodes) {
    Error(fmt::format("more than {} nodes", Topology::kMaxNodes));
    return switches;
  }
  for (uint32_t i = 0; i < count; ++i) {
    switches.push_back(builder_.AddSwitch(NodeKind::kSwitch));
  }
  return switches;
}

void FabricDrawing::Cable(NodeId a, NodeId b, const CableSpec& cable) {
  if (!status_.ok()) return;
  CableSpec made = cable;
  const auto other = overrides_.find(EndsOf(a, b));
  if (other != overrides_.end()) {
    const CableSpec& given = spec_.overrides[other->second].cable;
    if (!given.rate.empty()) made.rate = given.rate;
    if (!given.latency.empty()) made.latency = given.latency;
    if (!given.error_rate.empty()) made.error_rate = given.error_rate;
    overrides_.erase(other);
  }
  absl::StatusOr<LinkTypeId> type =
      builder_.AddLinkType(made.rate, made.latency, made.error_rate);
  status_ = type.ok() ? builder_.AddCable(a, b, *type) : type.status();
}

void FabricDrawing::CableNic(uint32_t server, uint32_t nic, NodeId to) {
  Cable(NicNode(server, nic), to, spec_.nics.cable);
}

NodeId FabricDrawing::NicNode(uint32_t server, uint32_t nic) const {
  const std::vector<uint32_t>& gpus = spec_.servers.nics[nic].gpus;
  if (gpus.size() == 1) return Gpu(server, gpus[0]);
  return NodeId(first_shared_nic_ + server * num_shared_nics_ +
                shared_place_[nic]);
}

uint32_t FabricDrawing::nics_per_server() const {
  return static_cast<uint32_t>(spec_.servers.nics.size());
}

// NVSwitches have the lowest numbers after the GPUs.
void FabricDrawing::AddServers() {
  const ServerSpec& servers = spec_.servers;
  const uint32_t per_server =
      servers.trays * servers.nv_switches + servers.second_level;
  const uint32_t first = num_nodes_;
  const uint64_t all = uint64_t{per_server} * servers.count + num_nodes_;
  if (all > Topology::kMaxNodes) {
    return Error(fmt::format("more than {} nodes", Topology::kMaxNodes));
  }
  for (uint32_t i = 0; i < per_server * servers.count; ++i) {
    builder_.AddSwitch(NodeKind::kNvSwitch);
  }
  num_nodes_ = static_cast<uint32_t>(all);
  for (uint32_t server = 0; server < servers.count; ++server) {
    AddNvSwitches(server, NodeId(first + server * per_server));
    for (const GpuCable& each : servers.gpu_cables) {
      Cable(Gpu(server, each.a), Gpu(server, each.b), each.cable);
    }
  }
  AddSharedNics();
}

// Adds the cables of the NVSwitches of a server, from `first` on.
void FabricDrawing::AddNvSwitches(uint32_t server, NodeId first) {
  const ServerSpec& servers = spec_.servers;
  const uint32_t first_level = servers.trays * servers.nv_switches;
  const auto nv_switch = [&](uint32_t i) { return NodeId(first.index() + i); };
  for (uint32_t gpu = 0; gpu < servers.gpus; ++gpu) {
    const uint32_t tray = gpu / (servers.gpus / servers.trays);
    for (uint32_t i = 0; i < servers.nv_switches; ++i) {
      Cable(Gpu(server, gpu), nv_switch(tray * servers.nv_switches + i),
            servers.nvlink);
    }
  }
  for (uint32_t i = 0; i < first_level; ++i) {
    for (uint32_t j = 0; j < servers.second_level; ++j) {
      Cable(nv_switch(i), nv_switch(first_level + j), servers.nvlink);
    }
  }
}

// A NIC that GPUs share is a switch that each of them has a cable to, so that
// they share the cables that leave it. The NIC adds no delay of its own.
void FabricDrawing::AddSharedNics() {
  const std::vector<ServerNic>& nics = spec_.servers.nics;
  shared_place_.assign(nics.size(), 0);
  for (size_t i = 0; i < nics.size(); ++i) {
    shared_place_[i] = num_shared_nics_;
    if (nics[i].gpus.size() > 1) ++num_shared_nics_;
  }
  const uint64_t count = uint64_t{num_shared_nics_} * spec_.servers.count;
  if (count == 0) return;
  const absl::StatusOr<Bandwidth> rate = ParseBandwidth(spec_.nics.cable.rate);
  if (!rate.ok() || count > Topology::kMaxNodes) {
    return Error(fmt::format("more than {} nodes", Topology::kMaxNodes));
  }
  first_shared_nic_ = num_nodes_;
  const std::vector<NodeId> nodes = AddSwitches(static_cast<uint32_t>(count));
  if (nodes.empty()) return;
  const CableSpec inside = {
      CableRateText(Bandwidth(rate->count() * spec_.nics.planes)), "0ns", "0"};
  for (uint32_t server = 0; server < spec_.servers.count; ++server) {
    for (size_t i = 0; i < nics.size(); ++i) {
      if (nics[i].gpus.size() == 1) continue;
      for (const uint32_t gpu : nics[i].gpus) {
        Cable(Gpu(server, gpu),
              nodes[server * num_shared_nics_ + shared_place_[i]], inside);
      }
    }
  }
}

absl::StatusOr<Topology> FabricDrawing::Finish() && {
  if (!status_.ok()) return status_;
  if (!overrides_.empty()) {
    const uint32_t first = overrides_.begin()->second;
    const CableOverride& unused = spec_.overrides[first];
    return FieldError(
        fmt::format("overrides.{}", first),
        fmt::format("the design has no cable between nodes {} and {}", unused.a,
                    unused.b));
  }
  return std::move(builder_).Build();
}

absl::StatusOr<Topology> DrawFabric(const FabricSpec& spec) {
  FabricDrawing drawing(spec);
  const uint32_t per_site = spec.servers.count / spec.sites.count;
  std::vector<std::vector<NodeId>> tops(spec.sites.count);
  for (uint32_t site = 0; site < spec.sites.count; ++site) {
    for (uint32_t plane = 0; plane < spec.nics.planes; ++plane) {
      const std::vector<NodeId> of_plane = spec.design->Draw(
          site * per_site, (site + 1) * per_site, plane, drawing);
      tops[site].insert(tops[site].end(), of_plane.begin(), of_plane.end());
    }
  }
  if (spec.sites.count > 1 && drawing.ok()) JoinSites(tops, drawing);
  absl::StatusOr<Topology> drawn = std::move(drawing).Finish();
  if (!drawn.ok() || !spec.storage) return drawn;
  absl::StatusOr<Topology> with = WithStorage(*drawn, *spec.storage);
  if (with.ok()) return with;
  return FieldError("storage", std::string(with.status().message()));
}

}  // namespace astra
