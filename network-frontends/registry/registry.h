// Registry of the network backends, by the name that options and results use.
//
// To add one, write network-frontends/NAME/, add a line to the table in
// registry.cc, and a line to the table of
// tests/network-frontends/backend_contract_test.cc.

#ifndef NETWORK_FRONTENDS_REGISTRY_REGISTRY_H_
#define NETWORK_FRONTENDS_REGISTRY_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "network-frontends/flow/flow_backend.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/packet_options.h"
#include "network-frontends/zoned_network.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

// Options of a network, for all backends.
struct NetworkOptions {
  PacketOptions packet;
  FlowOptions flow;
};

struct BackendEntry {
  std::string_view name;         // Spelling in options.
  std::string_view description;  // One line.
  bool has_options = false;      // The backend reads NetworkOptions.
  bool records_flows = false;    // The backend obeys RecordOptions::flows.
  bool records_packets = false;  // The backend obeys all of RecordOptions.
  bool has_replays = false;      // Its replay() may be other than nullptr.
  // Constructs the backend. The topology of `routes` must outlive it, and
  // `options` must have been checked against this topology.
  std::unique_ptr<NetworkBackend> (*make)(const NetworkOptions& options,
                                          Routes& routes);
  // Constructs the same network in at most `num_zones` zones; null if the
  // backend has none. Errors: those of FindZones.
  absl::StatusOr<std::unique_ptr<ZonedNetwork>> (*make_zones)(
      const NetworkOptions& options, const Topology& topology,
      uint32_t num_zones) = nullptr;
};

// Returns all backends, ordered by name.
absl::Span<const BackendEntry> Backends();

// Returns the backend `name`. Errors: InvalidArgument, with the nearest name,
// if no backend has the name.
absl::StatusOr<const BackendEntry*> FindBackend(std::string_view name);

// Checks that `backend` models what the network file `file` says. It is an
// error if the backend cannot model what changes the network itself: links that
// change, background traffic, load balancing, losses. Options that only packets
// have, such as windows and queues, are named in one warning where they are not
// the default.
//
// Errors: InvalidArgument, with the file and the key.
absl::Status CheckFollows(const BackendEntry& backend, std::string_view file,
                          const PacketOptions& packet, Warnings* warnings);

// Returns the options of the flow backend for `packet`: payload and header, the
// latency of switches, the seed, and what is recorded.
FlowOptions FlowOptionsOf(const PacketOptions& packet);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_REGISTRY_REGISTRY_H_
