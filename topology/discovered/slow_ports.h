// Ports that run slower than others of the same kind: cables or transceivers
// that are damaged, or that the wrong part was taken for.

#ifndef TOPOLOGY_DISCOVERED_SLOW_PORTS_H_
#define TOPOLOGY_DISCOVERED_SLOW_PORTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/log.h"
#include "topology/discovered/fabric_hosts.h"
#include "topology/discovered/ibnetdiscover.h"

namespace astra {

// Warns of each cable that is slower than the fastest of its kind: the cables
// from one switch to one level, to hosts, and those of one host. `levels` are
// those of LevelsOfSwitches().
void WarnOfSlowPorts(std::string_view file, const IbFabric& fabric,
                     const std::vector<FabricHost>& hosts,
                     const std::vector<uint32_t>& levels, Warnings* warnings);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_SLOW_PORTS_H_
