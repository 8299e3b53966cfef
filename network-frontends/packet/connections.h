// Queue pairs as connections: decides which queue pair carries a message, opens
// it, finds its path and its place at a NIC, and closes it.

#ifndef NETWORK_FRONTENDS_PACKET_CONNECTIONS_H_
#define NETWORK_FRONTENDS_PACKET_CONNECTIONS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/ids.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/nics.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/telemetry.h"

namespace astra {

class Connections {
 public:
  // All arguments must outlive the connections.
  Connections(const PacketSetup& setup, const PacketEvents& events,
              Ports& ports, Paths& paths, TelemetrySlots& telemetry,
              QueuePairPool& queue_pairs, Nics& nics);

  struct Found {
    QueuePairId id;
    bool is_new = false;  // Opened for this message.
  };

  // Returns the queue pair of a message and opens it if necessary.
  Found Find(const Message& message);

  // Opens the far end of a queue pair whose sender is in another part of the
  // network: it has the path of `key`, but no place at a NIC.
  QueuePairId OpenFarEnd(NodeId source, NodeId target, uint32_t channel,
                         uint64_t key);

  // Returns the open queue pair of a source, target and channel; kNoId if there
  // is none.
  QueuePairId FindOpen(NodeId source, NodeId target, uint32_t channel) const;

  // Returns what the hash of the path of a queue pair is of.
  uint64_t KeyOf(NodeId source, NodeId target, uint32_t channel) const;

  // Closes all queue pairs that are kept. Requires that no packet is left.
  void CloseAll();

  // Chooses the paths of the queue pair over links that are up, and gives it a
  // place at the NIC where the first path begins.
  void ChoosePath(QueuePairId id);

  // Frees what a packet held when it leaves the network before its end.
  void Discard(const Packet& packet);

  // Closes a queue pair that is for one message, once no packet of it is left.
  void MaybeClose(QueuePairId id);

  // Explains why a queue pair does not send, if one does not.
  std::string WhyStuck() const;

 private:
  QueuePairId Open(const Message& message, uint64_t key);
  QueuePairId MakeQueuePair(NodeId source, NodeId target, uint32_t channel,
                            uint64_t key);
  void Close(QueuePairId id);
  void LeaveNic(QueuePair& qp);

  const PacketSetup& setup_;
  const PacketEvents& events_;
  Ports& ports_;
  Paths& paths_;
  TelemetrySlots& telemetry_;
  QueuePairPool& queue_pairs_;
  Nics& nics_;
  // Queue pair by source and target and by channel; for look-up only.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, QueuePairId> kept_;
  uint64_t num_opened_ = 0;  // Queue pairs that were for one message.
  // Messages sent so far by source and target, for SimAI's hash; for look-up
  // only.
  absl::flat_hash_map<uint64_t, uint32_t> num_sent_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONNECTIONS_H_
