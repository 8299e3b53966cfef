#include "topology/fabrics/registry.h"

namespace astra {

absl::Span<const FabricKind> FabricKinds() {
  static const FabricKind kKinds[] = {DragonflyPlusFabric(), FatTreeFabric(),
                                      HyperXFabric(), TorusFabric()};
  return kKinds;
}

}  // namespace astra
