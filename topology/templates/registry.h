// Registry of the topology templates, by the name that gen_topo takes.
//
// To add one, write templates/NAME.cc, declare its function here, add its line
// to the table in registry.cc, and write tests/topology/templates/NAME_test.cc.

#ifndef TOPOLOGY_TEMPLATES_REGISTRY_H_
#define TOPOLOGY_TEMPLATES_REGISTRY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "topology/templates/template.h"

namespace astra {

TopologyTemplate AlibabaHpnTemplate();
TopologyTemplate CustomTemplate();
TopologyTemplate DcnPlusTemplate();
TopologyTemplate NvlTemplate();
TopologyTemplate SpectrumXTemplate();

// Returns all templates, in a fixed order.
absl::Span<const TopologyTemplate> TopologyTemplates();

// Returns the template `name`. Errors: NotFound, with the names of all
// templates.
absl::StatusOr<TopologyTemplate> FindTopologyTemplate(std::string_view name);

}  // namespace astra

#endif  // TOPOLOGY_TEMPLATES_REGISTRY_H_
