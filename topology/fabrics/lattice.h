// What designs have in common whose switches stand at the points of a lattice,
// each with equally many NICs: torus and HyperX.

#ifndef TOPOLOGY_FABRICS_LATTICE_H_
#define TOPOLOGY_FABRICS_LATTICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "topology/fabrics/fabric.h"

namespace astra {

struct Lattice {
  std::vector<uint32_t> shape;  // Switches along each dimension.
  CableSpec cable;              // Between switches.

  uint32_t size() const;
  // Returns the position of switch `number` along `dimension`.
  uint32_t Along(uint32_t number, size_t dimension) const;
  // Returns the distance between the numbers of neighbours along `dimension`.
  uint32_t StrideOf(size_t dimension) const;
};

// Joins the switches of a lattice, one at each point, by cables.
using LatticeCabling = void (*)(const Lattice& lattice,
                                const std::vector<NodeId>& switches,
                                FabricDrawing& drawing);

// Reads a lattice and returns the design that `join` makes of it: each switch
// has a block of successive NICs. Drawing it records an error if the NICs do
// not divide among the switches.
std::unique_ptr<FabricDesign> ReadLatticeFabric(const ServerSpec& servers,
                                                const NicSpec& nics,
                                                YamlFields& fields,
                                                LatticeCabling join);

}  // namespace astra

#endif  // TOPOLOGY_FABRICS_LATTICE_H_
