#include "topology/templates/registry.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"

namespace astra {

absl::Span<const TopologyTemplate> TopologyTemplates() {
  static const TopologyTemplate templates[] = {
      AlibabaHpnTemplate(), DcnPlusTemplate(), NvlTemplate(),
      SpectrumXTemplate(),  CustomTemplate(),
  };
  return templates;
}

absl::StatusOr<TopologyTemplate> FindTopologyTemplate(std::string_view name) {
  std::vector<std::string_view> known;
  for (const TopologyTemplate& candidate : TopologyTemplates()) {
    if (candidate.name == name) return candidate;
    known.push_back(candidate.name);
  }
  return absl::NotFoundError(UnknownName("topology", name, known));
}

}  // namespace astra
