#include "collectives/systems/system_library.h"

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/bundled.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_path.h"

namespace astra {

absl::Span<const EmbeddedFile> EmbeddedSystems();
absl::Span<const EmbeddedFile> EmbeddedInterconnects();
absl::Span<const EmbeddedFile> EmbeddedTransports();

const SystemParts& BundledParts() {
  static const auto& parts = *new SystemParts{
      ParseBundled<Interconnect>(EmbeddedInterconnects(), ParseInterconnect),
      ParseBundled<Transport>(EmbeddedTransports(), ParseTransport)};
  return parts;
}

const std::vector<SystemSpec>& BundledSystems() {
  static const auto& systems =
      *new std::vector<SystemSpec>(ParseBundled<SystemSpec>(
          EmbeddedSystems(),
          [](std::string_view file, std::string_view contents) {
            return ParseSystem(file, contents, BundledParts());
          }));
  return systems;
}

std::vector<std::string> SystemNames() {
  std::vector<std::string> names;
  for (const SystemSpec& system : BundledSystems()) {
    names.push_back(system.name);
  }
  return names;
}

absl::StatusOr<SystemSpec> FindSystem(std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> aliases;
  for (const SystemSpec& system : BundledSystems()) {
    if (IsNamed(name, system.name, system.aliases)) return system;
    names.push_back(system.name);
    aliases.insert(aliases.end(), system.aliases.begin(), system.aliases.end());
  }
  return absl::NotFoundError(UnknownName("system", name, names, aliases));
}

absl::StatusOr<SystemSpec> LoadSystem(std::string_view name_or_path) {
  if (!IsYamlPath(name_or_path)) return FindSystem(name_or_path);
  const std::string path(name_or_path);
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseSystem(path, contents, BundledParts());
}

std::string WriteSystem(const SystemSpec& system) {
  return FormatSystem(system, BundledParts());
}

}  // namespace astra
