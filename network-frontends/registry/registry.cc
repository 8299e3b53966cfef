#include "network-frontends/registry/registry.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "network-frontends/packet/packet_backend.h"

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

constexpr BackendEntry kBackends[] = {
    {"analytical", "each message by itself: latency and bytes over rate", false,
     false, false, &MakeAnalytical},
    {"flow", "messages that share links max-min fairly", true, true, false,
     &MakeFlow},
    {"packet", "every packet, with queues, ECN, PFC and congestion control",
     true, true, true, &MakePacket},
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

FlowOptions FlowOptionsOf(const PacketOptions& packet) {
  FlowOptions flow;
  flow.payload = packet.nic.payload;
  flow.header = packet.nic.header;
  flow.switch_latency = packet.fabric.latency;
  flow.seed = packet.seed;
  flow.record = packet.record;
  return flow;
}

}  // namespace astra
