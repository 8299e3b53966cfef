#include "network-frontends/packet/connections.h"

#include <memory>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"
#include "fmt/core.h"
#include "network-frontends/packet/simai_hash.h"

namespace astra {
namespace {

uint64_t EndsOf(NodeId source, NodeId target) {
  return uint64_t{source.index()} << 32 | target.index();
}
uint64_t EndsOf(const Message& message) {
  return EndsOf(message.source, message.target);
}

}  // namespace

Connections::Connections(const PacketSetup& setup, const PacketEvents& events,
                         Ports& ports, Paths& paths, TelemetrySlots& telemetry,
                         QueuePairPool& queue_pairs, Nics& nics)
    : setup_(setup),
      events_(events),
      ports_(ports),
      paths_(paths),
      telemetry_(telemetry),
      queue_pairs_(queue_pairs),
      nics_(nics) {}

Connections::Found Connections::Find(const Message& message) {
  const uint64_t seed = setup_.options.seed;
  const uint64_t ends = EndsOf(message);
  if (setup_.options.nic.queue_pairs == QueuePairs::kPerMessage) {
    return {Open(message, HashOf(seed, ends, num_opened_++)), true};
  }
  const auto [found, is_new] =
      kept_.try_emplace({ends, message.channel}, kNoId<QueuePairId>);
  if (is_new) {
    found->second =
        Open(message, KeyOf(message.source, message.target, message.channel));
  }
  return {found->second, is_new};
}

QueuePairId Connections::FindOpen(NodeId source, NodeId target,
                                  uint32_t channel) const {
  const auto found = kept_.find({EndsOf(source, target), channel});
  return found == kept_.end() ? kNoId<QueuePairId> : found->second;
}

uint64_t Connections::KeyOf(NodeId source, NodeId target,
                            uint32_t channel) const {
  return HashOf(setup_.options.seed, EndsOf(source, target), uint64_t{channel});
}

// The queue pairs that are kept are all there are, so their order, which the
// map does not tell, is that of their slots.
void Connections::CloseAll() {
  for (uint32_t i = 0; i < queue_pairs_.size(); ++i) {
    if (queue_pairs_[QueuePairId(i)].is_open) Close(QueuePairId(i));
  }
  kept_.clear();
}

QueuePairId Connections::Open(const Message& message, uint64_t key) {
  if (setup_.options.ecmp_hash == EcmpHash::kSimai) {
    key = SimaiSourcePort(num_sent_[EndsOf(message)]++, setup_.options.seed);
  }
  const QueuePairId id =
      MakeQueuePair(message.source, message.target, message.channel, key);
  ChoosePath(id);
  return id;
}

QueuePairId Connections::OpenFarEnd(NodeId source, NodeId target,
                                    uint32_t channel, uint64_t key) {
  const QueuePairId id = MakeQueuePair(source, target, channel, key);
  paths_.Choose(id, queue_pairs_[id]);
  return id;
}

QueuePairId Connections::MakeQueuePair(NodeId source, NodeId target,
                                       uint32_t channel, uint64_t key) {
  const QueuePairId id = queue_pairs_.Take();
  ASTRA_CHECK(queue_pairs_.size() <= PacketEvents::kMaxIds, "{} queue pairs",
              queue_pairs_.size());
  paths_.Resize(queue_pairs_.size());
  QueuePair& qp = queue_pairs_[id];
  // Pending events of the queue pair that had this slot are stale; they do not
  // match the new one.
  qp = QueuePair();
  qp.is_open = true;
  qp.source = source;
  qp.target = target;
  qp.channel = channel;
  qp.key = key;
  qp.next_send = events_.now();
  qp.progress = events_.now();
  if (setup_.options.nic.loss_recovery == LossRecovery::kSelectiveRepeat) {
    qp.send_window = std::make_unique<SendWindow>();
    qp.receive_window = std::make_unique<ReceiveWindow>();
  }
  return id;
}

void Connections::ChoosePath(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  const bool has_both = paths_.Choose(id, qp);
  const LinkId link =
      has_both ? *paths_.Find(id, Paths::Way::kThere) : kNoId<LinkId>;
  if (link == qp.link) return;
  LeaveNic(qp);
  if (!has_both) return;
  qp.link = link;
  nics_.Join(id, ports_[link]);
}

void Connections::LeaveNic(QueuePair& qp) {
  if (qp.link == kNoId<LinkId>) return;
  nics_.Leave(qp, ports_[qp.link]);
  qp.link = kNoId<LinkId>;
}

void Connections::Discard(const Packet& packet) {
  telemetry_.Free(packet.telemetry);
  if (packet.queue_pair == kNoId<QueuePairId>) return;
  --queue_pairs_[packet.queue_pair].in_network;
  MaybeClose(packet.queue_pair);
}

void Connections::MaybeClose(QueuePairId id) {
  if (setup_.options.nic.queue_pairs != QueuePairs::kPerMessage) return;
  QueuePair& qp = queue_pairs_[id];
  if (!qp.is_open || qp.acked != qp.end || qp.in_network > 0) return;
  Close(id);
}

void Connections::Close(QueuePairId id) {
  QueuePair& qp = queue_pairs_[id];
  LeaveNic(qp);
  qp.is_open = false;
  queue_pairs_.Free(id);
}

std::string Connections::WhyStuck() const {
  const Topology& topology = setup_.topology;
  for (const QueuePair& qp : queue_pairs_) {
    if (!qp.is_open || qp.acked == qp.end) continue;
    const std::string ends = fmt::format(
        "{} to {}", topology.NodeName(qp.source), topology.NodeName(qp.target));
    if (qp.link == kNoId<LinkId>) {
      return fmt::format("no links that are up lead from {}", ends);
    }
    if (qp.has_given_up) {
      return fmt::format("{}: given up after {} retries", ends,
                         setup_.options.nic.retries);
    }
    if (ports_[qp.link].is_paused) {
      return fmt::format("{}: {} is paused by PFC", ends,
                         topology.LinkName(qp.link));
    }
  }
  return {};
}

}  // namespace astra
