// A torus of any number of dimensions: a switch, or the router of a chip, at
// each point, linked to its neighbours, and round at the ends. Along a
// dimension of length 2 the two neighbours are one, with one cable.
//
// Source: W. Dally and B. Towles, "Principles and Practices of Interconnection
// Networks", 2004, chapter 5.

#include <vector>

#include "topology/fabrics/lattice.h"
#include "topology/fabrics/registry.h"

namespace astra {
namespace {

void Join(const Lattice& lattice, const std::vector<NodeId>& switches,
          FabricDrawing& drawing) {
  for (uint32_t i = 0; i < switches.size(); ++i) {
    for (size_t d = 0; d < lattice.shape.size(); ++d) {
      const uint32_t length = lattice.shape[d];
      const uint32_t place = lattice.Along(i, d);
      if (length == 2 && place == 1) continue;
      const uint32_t next = (place + 1) % length;
      const uint32_t stride = lattice.StrideOf(d);
      drawing.Cable(switches[i], switches[i - place * stride + next * stride],
                    lattice.cable);
    }
  }
}

std::unique_ptr<FabricDesign> Read(const ServerSpec& servers,
                                   const NicSpec& nics, YamlFields& fields) {
  return ReadLatticeFabric(servers, nics, fields, &Join);
}

}  // namespace

FabricKind TorusFabric() {
  return {"torus", "1 to 6 dimensions, a switch for each point", &Read};
}

}  // namespace astra
