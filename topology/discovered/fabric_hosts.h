// The servers of an InfiniBand fabric, found by the descriptions of its
// adapters.
//
// An adapter that is described by two words, "HOST DEVICE", is a NIC of that
// host; rdma-ndd sets this description on hosts. A port of it that has a cable
// to a switch counts as a NIC of its own.

#ifndef TOPOLOGY_DISCOVERED_FABRIC_HOSTS_H_
#define TOPOLOGY_DISCOVERED_FABRIC_HOSTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "topology/discovered/ibnetdiscover.h"
#include "topology/fabrics/server.h"

namespace astra {

// A port of an adapter.
struct HostPort {
  std::string device;  // Such as "mlx5_0".
  uint32_t node = 0;   // Index of the adapter in the fabric.
  uint32_t port = 0;   // Index into the ports of the adapter.
};

struct FabricHost {
  std::string name;
  std::vector<HostPort> ports;  // In the natural order of devices.
  bool has_port_twice = false;  // Two ports have one device and number.
};

// Returns the hosts in the natural order of their names. Warns of adapters that
// are described otherwise, once for each description, and of hosts that have a
// port twice. Ports that lead to no switch are left out.
std::vector<FabricHost> FindHosts(std::string_view file, const IbFabric& fabric,
                                  Warnings* warnings);

// Returns the hosts that `names` lists, in this order.
//
// Errors: FieldError, of the index in `names`, for a name that is no host or is
// there twice.
absl::StatusOr<std::vector<FabricHost>> ChooseHosts(
    const std::vector<FabricHost>& hosts,
    const std::vector<std::string>& names);

// Returns the names of a file of hosts: one a line, apart from blank lines and
// those that begin with "#". `lines` gets the line of each.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a line of several words
// and a file without names.
absl::StatusOr<std::vector<std::string>> ParseHostNames(
    std::string_view file, std::string_view contents,
    std::vector<uint32_t>* lines);

// Gives `server`, if it has no NICs, as many as most hosts have, evenly divided
// among its GPUs.
void AddNicsOfMostHosts(const std::vector<FabricHost>& hosts,
                        ServerSpec* server);

// Joins successive hosts to servers of `nics` NICs, where most hosts have fewer
// and these divide them: the hosts of a rack that is one NVLink domain. Hosts
// that have another number of ports than most, and those that are left over,
// stay as they are. Warns of what was joined.
std::vector<FabricHost> JoinHostsOfRacks(std::vector<FabricHost> hosts,
                                         size_t nics, std::string_view file,
                                         Warnings* warnings);

// Brings the ports of each host into the order of the NICs of `server`: by
// their names where the host has all of these, else in the order of devices.
//
// With `is_chosen`, a host that has not as many ports as the server has NICs is
// an error, InvalidArgument; without, such a host is left out with a warning.
absl::StatusOr<std::vector<FabricHost>> MatchNics(
    std::vector<FabricHost> hosts, const ServerType& type, bool is_chosen,
    std::string_view file, const IbFabric& fabric, Warnings* warnings);

}  // namespace astra

#endif  // TOPOLOGY_DISCOVERED_FABRIC_HOSTS_H_
