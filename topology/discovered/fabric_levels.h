// The switches of a discovered fabric that servers use.

#ifndef TOPOLOGY_DISCOVERED_FABRIC_LEVELS_H_
#define TOPOLOGY_DISCOVERED_FABRIC_LEVELS_H_

#include <cstdint>
#include <vector>

#include "topology/discovered/fabric_hosts.h"
#include "topology/discovered/ibnetdiscover.h"

namespace astra {

// Level 0 of a node: a host, or a switch that is not used.
constexpr uint32_t kNoLevel = 0;

// Returns the level of each node of `fabric`: 1 for switches that have a cable
// to one of `hosts`, else 1 more than the lowest level next to it. Switches on
// no shortest path between two hosts have kNoLevel.
std::vector<uint32_t> LevelsOfSwitches(const IbFabric& fabric,
                                       const std::vector<FabricHost>& hosts);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_FABRIC_LEVELS_H_
