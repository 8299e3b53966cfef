// What designs have in common whose switches stand at the points of a lattice,
// each with equally many GPUs: torus and HyperX.

#ifndef TOPOLOGY_FABRICS_LATTICE_H_
#define TOPOLOGY_FABRICS_LATTICE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "topology/fabrics/fabric.h"

namespace astra {

struct Lattice {
  std::vector<uint32_t> shape;  // Switches along each dimension.
  CableSpec cable;              // Between switches.

  uint32_t size() const;
  // Position of switch `number` along `dimension`, and the distance between the
  // numbers of neighbours.
  uint32_t Along(uint32_t number, size_t dimension) const;
  uint32_t StrideOf(size_t dimension) const;
};

// Reads shape, rate and latency. `nics` has the cable that holds otherwise.
Lattice ReadLattice(const NicSpec& nics, YamlFields& fields);

// Returns a switch for each point, with its share of the GPUs of the servers,
// in order. Records an error if they do not divide.
std::vector<NodeId> DrawPoints(const Lattice& lattice, uint32_t first,
                               uint32_t end, FabricDrawing& drawing);

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_LATTICE_H_
