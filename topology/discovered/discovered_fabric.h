// Draws the topology of a discovered InfiniBand fabric: its hosts are servers
// of one type, whose GPUs and NVLink the fabric does not tell.
//
//   IbFabric ─▶ hosts ─▶ those with the NICs of the type ─▶ switches between
//
// The model:
//
//   servers    hosts in the natural order of their names, or in a given one;
//              several successive ones where a rack is an NVLink domain
//   NICs       see MatchNics()
//   switches   those on a shortest path between two servers; nodes are GPUs,
//              NVSwitches, NICs that GPUs share, and these switches by level,
//              each level in the order of the file. The level of a switch is
//              its distance from the servers
//   cables     with the rate that their ports run at. Parallel cables between
//              two nodes are one cable of the whole rate
//
// A cable that is slower than others of the same kind at the same switch or
// host is drawn with its rate, and a warning names it: cables between the same
// two levels are of one kind.

#ifndef TOPOLOGY_DISCOVERED_DISCOVERED_FABRIC_H_
#define TOPOLOGY_DISCOVERED_DISCOVERED_FABRIC_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "topology/discovered/fabric_hosts.h"
#include "topology/discovered/ibnetdiscover.h"
#include "topology/fabrics/cable.h"
#include "topology/fabrics/server.h"
#include "topology/topology.h"

namespace astra {

// Draws `hosts`, whose ports are in the order of the NICs of `server`. `cable`
// gives latency and error rate of all cables of the fabric. `file` names the
// fabric in warnings.
//
// Errors: those of FabricDrawing::Finish().
absl::StatusOr<Topology> DrawDiscoveredFabric(
    std::string_view file, const IbFabric& fabric,
    const std::vector<FabricHost>& hosts, const ServerSpec& server,
    const CableSpec& cable, Warnings* warnings);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_DISCOVERED_FABRIC_H_
