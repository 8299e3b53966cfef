#include "network-frontends/registry/registry.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "network-frontends/config/network_file.h"
#include "network-frontends/packet/packet_backend.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/zones/zoned_packet_network.h"
#include "network-frontends/packet/zones/zoning.h"

namespace astra {
namespace {

std::unique_ptr<NetworkBackend> MakeAnalytical(const NetworkOptions&,
                                               Routes& routes) {
  return std::make_unique<AnalyticalBackend>(routes);
}

std::unique_ptr<NetworkBackend> MakeFlow(const NetworkOptions& options,
                                         Routes& routes) {
  return std::make_unique<FlowBackend>(routes.topology(), options.flow);
}

std::unique_ptr<NetworkBackend> MakePacket(const NetworkOptions& options,
                                           Routes& routes) {
  return std::make_unique<PacketBackend>(routes.topology(), options.packet);
}

absl::StatusOr<std::unique_ptr<ZonedNetwork>> MakePacketZones(
    const NetworkOptions& options, const Topology& topology,
    uint32_t num_zones) {
  ASTRA_ASSIGN_OR_RETURN(
      Zoning zoning,
      FindZones(PacketSetup(topology, options.packet), num_zones));
  return std::make_unique<ZonedPacketNetwork>(topology, options.packet,
                                              std::move(zoning));
}

constexpr BackendEntry kBackends[] = {
    {"analytical", "each message by itself: latency and bytes over rate", false,
     false, false, false, &MakeAnalytical},
    {"flow", "messages that share links max-min fairly", true, true, false,
     true, &MakeFlow},
    {"packet", "every packet, with queues, ECN, PFC and congestion control",
     true, true, true, true, &MakePacket, &MakePacketZones},
};

}  // namespace

absl::Span<const BackendEntry> Backends() { return kBackends; }

absl::StatusOr<const BackendEntry*> FindBackend(std::string_view name) {
  std::vector<std::string_view> names;
  for (const BackendEntry& entry : kBackends) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return absl::InvalidArgumentError(UnknownName("backend", name, names));
}

absl::Status CheckFollows(const BackendEntry& backend, std::string_view file,
                          const PacketOptions& packet, Warnings* warnings) {
  if (backend.records_packets) return absl::OkStatus();
  const struct {
    std::string_view key;
    bool is_used;
  } rules[] = {
      {"background", !packet.background.empty()},
      {"load_balancing", packet.load_balancing != LoadBalancing::kEcmp},
      {"error_rate", packet.error_rate > 0},
  };
  for (const auto& rule : rules) {
    if (!rule.is_used) continue;
    return absl::InvalidArgumentError(fmt::format(
        "{}: {} has no effect with --fidelity {}: take --fidelity packet, or "
        "leave it out",
        file, rule.key, backend.name));
  }
  // The default network with only the values that flows use; see FlowOptionsOf.
  PacketOptions heeded = DefaultNetwork();
  heeded.nic.payload = packet.nic.payload;
  heeded.nic.header = packet.nic.header;
  heeded.fabric.latency = packet.fabric.latency;
  heeded.nv_switch.latency = packet.nv_switch.latency;
  heeded.seed = packet.seed;
  heeded.record.flows_file = packet.record.flows_file;
  heeded.record.max_records = packet.record.max_records;
  const std::vector<std::string> keys = DifferentKeys(packet, heeded);
  if (!keys.empty()) {
    warnings->push_back(fmt::format("{}: no effect with --fidelity {}: {}",
                                    file, backend.name, fmt::join(keys, ", ")));
  }
  return absl::OkStatus();
}

FlowOptions FlowOptionsOf(const PacketOptions& packet) {
  FlowOptions flow;
  flow.payload = packet.nic.payload;
  flow.header = packet.nic.header;
  flow.switch_latency = packet.fabric.latency;
  flow.nv_switch_latency = packet.nv_switch.latency;
  flow.seed = packet.seed;
  flow.record = packet.record;
  flow.link_events = packet.link_events;
  flow.reroute_delay = packet.reroute_delay;
  return flow;
}

}  // namespace astra
