// Every network backend there is, by the name that options and results use.
//
// To add one: write network-frontends/NAME/, add a line to the table in
// registry.cc, and a line to the table of tests/network-frontends/
// backend_contract_test.cc.

#ifndef NETWORK_FRONTENDS_REGISTRY_REGISTRY_H_
#define NETWORK_FRONTENDS_REGISTRY_REGISTRY_H_

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "network-frontends/flow/flow_backend.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/packet_options.h"
#include "topology/routes.h"

namespace astra {

// What a network is, for whichever backend.
struct NetworkOptions {
  PacketOptions packet;
  FlowOptions flow;
};

struct BackendEntry {
  std::string_view name;         // As options spell it.
  std::string_view description;  // One line.
  bool has_options = false;      // Reads what it is given.
  bool records_flows = false;    // Of RecordOptions.
  bool records_packets = false;  // All of RecordOptions.
  // Requires of the topology of `routes`, which must outlive the backend, that
  // `options` were checked against it.
  std::unique_ptr<NetworkBackend> (*make)(const NetworkOptions& options,
                                          Routes& routes);
};

// By name.
absl::Span<const BackendEntry> Backends();

// Errors: InvalidArgument, with the nearest name, if there is none.
absl::StatusOr<const BackendEntry*> FindBackend(std::string_view name);

// Checks that `backend` models what the network file `file` says. What would
// change which network there is must be followed: links that change, traffic of
// others, load balancing, losses. What only packets know, such as windows and
// queues, is named in one warning where it is not the default.
//
// Errors: InvalidArgument, with the file and the key.
absl::Status CheckFollows(const BackendEntry& backend, std::string_view file,
                          const PacketOptions& packet, Warnings* warnings);

// What `packet` means for a network of flows: its packets, the latency of its
// switches, its seed and what is recorded.
FlowOptions FlowOptionsOf(const PacketOptions& packet);

}  // namespace astra

#endif  // NETWORK_FRONTENDS_REGISTRY_REGISTRY_H_
