#include "topology/fabrics/fabric_file.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"
#include "topology/fabrics/registry.h"
#include "topology/fabrics/server_fields.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_fabric";
constexpr int64_t kVersion = 1;

uint32_t Count(std::string_view key, int64_t otherwise, int64_t min,
               int64_t max, YamlFields& fields) {
  return static_cast<uint32_t>(fields.IntegerOr(key, otherwise, min, max));
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

std::optional<StorageSpec> ReadStorage(const NicSpec& nics, YamlFields& root) {
  if (root.Value("storage") == nullptr) return std::nullopt;
  YamlFields fields = root.Map("storage", "the storage");
  StorageSpec storage;
  storage.servers = static_cast<uint32_t>(
      fields.Integer("servers", 1, StorageSpec::kMaxServers));
  storage.nics = Count("nics", 1, 1, StorageSpec::kMaxNics, fields);
  storage.tier = Count("tier", 1, 1, StorageSpec::kMaxTier, fields);
  storage.cable = ReadCable(nics.cable, fields);
  fields.Close();
  return storage;
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
                                       std::string_view contents,
                                       const ServerTypeSources& sources,
                                       Warnings* warnings) {
  YamlDocument document(file, contents);
  YamlFields root = document.Root("a fabric");
  root.Integer(kMark, kVersion, kVersion);
  FabricSpec spec;
  ServerFields read = ReadServerFields(file, sources, root, warnings);
  spec.servers = std::move(read.servers);
  spec.nics = std::move(read.nics);
  spec.design =
      ReadDesign(spec.servers, spec.nics, root.Map("fabric", "the fabric"));
  spec.sites =
      ReadSites(spec.servers, spec.nics, root.Map("sites", "the sites"));
  for (YamlFields& fields : root.Maps("overrides", "an override")) {
    spec.overrides.push_back(ReadOverride(fields));
  }
  spec.storage = ReadStorage(spec.nics, root);
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
  const bool is_known =
      field.starts_with("overrides") || field.starts_with("storage");
  document.ErrorAt(is_known ? field : "fabric", std::string(error.message()));
  return document.status();
}

}  // namespace astra
