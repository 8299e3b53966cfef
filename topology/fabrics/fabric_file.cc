#include "topology/fabrics/fabric_file.h"

#include <string>
#include <utility>
#include <vector>

#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"
#include "topology/fabrics/registry.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_fabric";
constexpr int64_t kVersion = 1;
constexpr int64_t kMostGpus = 16'384;  // Of a server, or of a rack.
constexpr int64_t kMostPlanes = 64;

uint32_t Count(std::string_view key, int64_t otherwise, int64_t min,
               int64_t max, YamlFields& fields) {
  return static_cast<uint32_t>(fields.IntegerOr(key, otherwise, min, max));
}

ServerSpec ReadServers(YamlFields fields) {
  ServerSpec servers;
  servers.count =
      static_cast<uint32_t>(fields.Integer("count", 1, Topology::kMaxNodes));
  servers.gpus = Count("gpus", servers.gpus, 1, kMostGpus, fields);
  servers.gpu_type = fields.TextOr("gpu_type", servers.gpu_type);
  if (!IsPlain(servers.gpu_type) || servers.gpu_type.empty() ||
      servers.gpu_type.find_first_of(" \t\r\n/") != std::string::npos) {
    fields.Error("gpu_type", "expected one word without \"/\"");
  }
  YamlFields nvlink = fields.Map("nvlink", "NVLink");
  servers.nv_switches =
      Count("switches", servers.gpus > 1 ? 1 : 0, 0, kMostGpus, nvlink);
  servers.trays = Count("trays", 1, 1, kMostGpus, nvlink);
  servers.second_level =
      Count("second_level", servers.trays > 1 ? 1 : 0, 0, kMostGpus, nvlink);
  servers.nvlink = ReadCable(servers.nvlink, nvlink);
  if (servers.gpus % servers.trays != 0) {
    nvlink.Error("trays", fmt::format("{} GPUs do not divide into {} trays",
                                      servers.gpus, servers.trays));
  }
  if (servers.trays > 1 && servers.second_level == 0) {
    nvlink.Error("second_level", "expected switches that join the trays");
  }
  if (servers.trays == 1 && servers.second_level > 0) {
    nvlink.Error("second_level", "no effect with one tray");
  }
  nvlink.Close();
  fields.Close();
  if (int64_t{servers.count} * servers.gpus > Topology::kMaxNodes) {
    fields.Error("count",
                 fmt::format("more than {} GPUs", Topology::kMaxNodes));
    servers.count = 1;
  }
  return servers;
}

NicSpec ReadNics(YamlFields fields) {
  NicSpec nics;
  nics.per_gpu = Count("per_gpu", 1, 1, kMostPlanes, fields);
  nics.planes = Count("planes", 1, 1, kMostPlanes, fields);
  nics.cable = ReadCable(nics.cable, fields);
  fields.Close();
  return nics;
}

std::shared_ptr<const FabricDesign> ReadDesign(const ServerSpec& servers,
                                               const NicSpec& nics,
                                               YamlFields fields) {
  std::vector<std::string_view> names;
  for (const FabricKind& kind : FabricKinds()) names.push_back(kind.name);
  const size_t kind = fields.Choice("kind", names);
  std::shared_ptr<const FabricDesign> design =
      FabricKinds()[kind].read(servers, nics, fields);
  fields.Close();
  return design;
}

SitesSpec ReadSites(const ServerSpec& servers, const NicSpec& nics,
                    YamlFields fields) {
  constexpr int64_t kMostSites = 1000;
  SitesSpec sites;
  sites.count = Count("count", 1, 1, kMostSites, fields);
  sites.routers = Count("routers", 1, 1, kMostSites, fields);
  sites.cable = ReadCable(nics.cable, fields);
  YamlFields uplink = fields.Map("uplink", "a cable");
  sites.uplink = ReadCable(nics.cable, uplink);
  uplink.Close();
  if (servers.count % sites.count != 0) {
    fields.Error("count", fmt::format("{} servers do not divide into {} sites",
                                      servers.count, sites.count));
    sites.count = 1;
  }
  fields.Close();
  return sites;
}

CableOverride ReadOverride(YamlFields& fields) {
  CableOverride made;
  const std::vector<std::string> ends = fields.Texts("link");
  std::vector<NodeId> nodes;
  for (const std::string& text : ends) {
    const absl::StatusOr<int64_t> node =
        ParseInteger("", text, 0, Topology::kMaxNodes);
    if (node.ok()) nodes.emplace_back(static_cast<uint32_t>(*node));
  }
  if (nodes.size() != 2 || ends.size() != 2) {
    fields.Error("link", "expected two nodes, such as [3, 47]");
  } else {
    made.a = nodes[0];
    made.b = nodes[1];
  }
  made.cable = ReadCable({"", "", ""}, fields);
  if (made.cable == CableSpec{"", "", ""}) {
    fields.Error("link", "expected rate, latency or error_rate");
  }
  fields.Close();
  return made;
}

}  // namespace

absl::StatusOr<FabricSpec> ParseFabric(std::string_view file,
                                       std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields root = document.Root("a fabric");
  root.Integer(kMark, kVersion, kVersion);
  FabricSpec spec;
  spec.servers = ReadServers(root.Map("servers", "the servers"));
  spec.nics = ReadNics(root.Map("nics", "the NICs"));
  spec.design =
      ReadDesign(spec.servers, spec.nics, root.Map("fabric", "the fabric"));
  spec.sites =
      ReadSites(spec.servers, spec.nics, root.Map("sites", "the sites"));
  for (YamlFields& fields : root.Maps("overrides", "an override")) {
    spec.overrides.push_back(ReadOverride(fields));
  }
  root.Close();
  if (!document.status().ok()) return document.status();
  return spec;
}

// What the builder refuses, such as two cables between the same nodes, is the
// design's.
absl::Status AtFabricField(std::string_view file, std::string_view contents,
                           const absl::Status& error) {
  const std::string field = FieldOf(error);
  YamlDocument document(file, contents);
  document.ErrorAt(field.starts_with("overrides") ? field : "fabric",
                   std::string(error.message()));
  return document.status();
}

}  // namespace astra
