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

class HyperX final : public FabricDesign {
 public:
  explicit HyperX(Lattice lattice) : lattice_(std::move(lattice)) {}

  std::vector<NodeId> Draw(uint32_t first, uint32_t end, uint32_t /*plane*/,
                           FabricDrawing& drawing) const override {
    std::vector<NodeId> switches = DrawPoints(lattice_, first, end, drawing);
    for (uint32_t i = 0; i < switches.size(); ++i) {
      for (size_t d = 0; d < lattice_.shape.size(); ++d) {
        const uint32_t place = lattice_.Along(i, d);
        for (uint32_t other = place + 1; other < lattice_.shape[d]; ++other) {
          drawing.Cable(switches[i],
                        switches[i + (other - place) * lattice_.StrideOf(d)],
                        lattice_.cable);
        }
      }
    }
    return switches;
  }

 private:
  const Lattice lattice_;
};

std::unique_ptr<FabricDesign> Read(const ServerSpec& /*servers*/,
                                   const NicSpec& nics, YamlFields& fields) {
  return std::make_unique<HyperX>(ReadLattice(nics, fields));
}

}  // namespace

FabricKind HyperXFabric() {
  return {"hyperx", "a lattice of switches, all linked along each dimension",
          &Read};
}

}  // namespace astra
