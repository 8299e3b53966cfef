// Registry of the designs of fabrics, by the `kind` that a file names.

#ifndef TOPOLOGY_FABRICS_REGISTRY_H_
#define TOPOLOGY_FABRICS_REGISTRY_H_

#include "absl/types/span.h"
#include "topology/fabrics/fabric.h"

namespace astra {

FabricKind DragonflyPlusFabric();
FabricKind FatTreeFabric();
FabricKind HyperXFabric();
FabricKind TorusFabric();

// Returns all designs, ordered by name.
absl::Span<const FabricKind> FabricKinds();

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_REGISTRY_H_
