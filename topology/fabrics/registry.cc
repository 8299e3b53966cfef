#include "topology/fabrics/registry.h"

namespace astra {

absl::Span<const FabricKind> FabricKinds() {
  static const FabricKind kinds[] = {DragonflyPlusFabric(), FatTreeFabric(),
                                     HyperXFabric(), TorusFabric()};
  return kinds;
}

}  // namespace astra
