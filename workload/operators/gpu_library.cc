#include "workload/operators/gpu_library.h"

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/bundled.h"
#include "astra-core/base/embedded_file.h"
#include "astra-core/base/names.h"
#include "astra-core/base/yaml_path.h"
#include "workload/operators/gpu_file.h"

namespace astra {

absl::Span<const EmbeddedFile> EmbeddedGpus();

const std::vector<GpuSpec>& BundledGpus() {
  static const auto& gpus = *new std::vector<GpuSpec>(
      ParseBundled<GpuSpec>(EmbeddedGpus(), ParseGpu));
  return gpus;
}

absl::StatusOr<GpuSpec> FindGpu(std::string_view name_or_path) {
  if (IsYamlPath(name_or_path)) return ReadGpu(std::string(name_or_path));
  std::vector<std::string_view> names;
  std::vector<std::string_view> aliases;
  for (const GpuSpec& gpu : BundledGpus()) {
    if (IsNamed(name_or_path, gpu.name, gpu.aliases)) return gpu;
    names.push_back(gpu.name);
    aliases.insert(aliases.end(), gpu.aliases.begin(), gpu.aliases.end());
  }
  return absl::NotFoundError(UnknownName("GPU", name_or_path, names, aliases));
}

bool IsGpuType(std::string_view type, std::string_view name) {
  const std::string wanted = LowerCase(name);
  const std::string family = wanted.substr(0, wanted.find('-'));
  if (IsNamed(type, wanted, {}) || IsNamed(type, family, {})) return true;
  if (IsYamlPath(type)) return false;
  const absl::StatusOr<GpuSpec> known = FindGpu(type);
  return known.ok() && IsNamed(known->name, wanted, {});
}

std::vector<std::string> GpuNames() {
  std::vector<std::string> names;
  for (const GpuSpec& gpu : BundledGpus()) names.push_back(gpu.name);
  return names;
}

}  // namespace astra
