#include "network-frontends/packet/packet_backend.h"

#include "network-frontends/packet/packet_network.h"

namespace astra {

PacketBackend::PacketBackend(const Topology& topology,
                             const PacketOptions& options)
    : network_(std::make_unique<PacketNetwork>(topology, options)) {}

PacketBackend::~PacketBackend() = default;

TimePs PacketBackend::now() const { return network_->now(); }

void PacketBackend::Send(const Message& message) { network_->Send(message); }

void PacketBackend::AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) {
  network_->AdvanceTo(limit, arrived);
}

void PacketBackend::Drain() { network_->Drain(); }
void PacketBackend::LogArrivals(const ArrivalLog& log) {
  network_->LogArrivals(log);
}

absl::Span<const double> PacketBackend::link_bytes() const {
  return network_->link_bytes();
}

WorkDone PacketBackend::work() const { return network_->work(); }

const NetworkStatistics& PacketBackend::statistics() {
  return network_->statistics();
}

ReplaySupport* PacketBackend::replay() { return network_->replay(); }

std::string PacketBackend::WhyStuck() const { return network_->WhyStuck(); }

TimePs PacketBackend::last_give_up() const { return network_->last_give_up(); }

}  // namespace astra
