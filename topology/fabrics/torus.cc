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

class Torus final : public FabricDesign {
 public:
  explicit Torus(Lattice lattice) : lattice_(std::move(lattice)) {}

  std::vector<NodeId> Draw(uint32_t first, uint32_t end, uint32_t /*plane*/,
                           FabricDrawing& drawing) const override {
    std::vector<NodeId> switches = DrawPoints(lattice_, first, end, drawing);
    for (uint32_t i = 0; i < switches.size(); ++i) {
      for (size_t d = 0; d < lattice_.shape.size(); ++d) {
        const uint32_t length = lattice_.shape[d];
        const uint32_t place = lattice_.Along(i, d);
        if (length == 2 && place == 1) continue;
        const uint32_t next = (place + 1) % length;
        const uint32_t stride = lattice_.StrideOf(d);
        drawing.Cable(switches[i], switches[i - place * stride + next * stride],
                      lattice_.cable);
      }
    }
    return switches;
  }

 private:
  const Lattice lattice_;
};

std::unique_ptr<FabricDesign> Read(const ServerSpec& /*servers*/,
                                   const NicSpec& nics, YamlFields& fields) {
  return std::make_unique<Torus>(ReadLattice(nics, fields));
}

}  // namespace

FabricKind TorusFabric() {
  return {"torus", "1 to 6 dimensions, a switch for each point", &Read};
}

}  // namespace astra
