// HyperX: switches at the points of a lattice, each linked to all others that
// differ from it along one dimension.
//
// Source: J. Ahn et al., "HyperX: topology, routing, and packaging of efficient
// large-scale networks", SC 2009.

#include <vector>

#include "topology/fabrics/lattice.h"
#include "topology/fabrics/registry.h"

namespace astra {
namespace {

void Join(const Lattice& lattice, const std::vector<NodeId>& switches,
          FabricDrawing& drawing) {
  for (uint32_t i = 0; i < switches.size(); ++i) {
    for (size_t d = 0; d < lattice.shape.size(); ++d) {
      const uint32_t place = lattice.Along(i, d);
      for (uint32_t other = place + 1; other < lattice.shape[d]; ++other) {
        drawing.Cable(switches[i],
                      switches[i + (other - place) * lattice.StrideOf(d)],
                      lattice.cable);
      }
    }
  }
}

std::unique_ptr<FabricDesign> Read(const ServerSpec& servers,
                                   const NicSpec& nics, YamlFields& fields) {
  return ReadLatticeFabric(servers, nics, fields, &Join);
}

}  // namespace

FabricKind HyperXFabric() {
  return {"hyperx", "a lattice of switches, all linked along each dimension",
          &Read};
}

}  // namespace astra
