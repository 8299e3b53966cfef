// Keeps messages that have arrived until the engine takes them.
//
//   deliveries.Expect(message, &state);   // At Send().
//   deliveries.Finish(id, qp, state);     // The message has arrived.
//   deliveries.Take(&arrived);            // The engine asks.
//
// Messages of one source, target and channel are handed over in the order of
// Send(). Those of one queue pair arrive in this order anyway; with a queue
// pair for each message they may overtake one another, and a message that does
// is kept back until all earlier ones are there.

#ifndef NETWORK_FRONTENDS_PACKET_DELIVERIES_H_
#define NETWORK_FRONTENDS_PACKET_DELIVERIES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/ids.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/packet/packet_events.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/paths.h"
#include "network-frontends/packet/queue_pair.h"
#include "network-frontends/packet/records.h"

namespace astra {

class Deliveries {
 public:
  // All arguments must outlive the deliveries.
  Deliveries(const PacketSetup& setup, const PacketEvents& events,
             const Paths& paths, Records& records);

  // Counts `message` as in flight and notes its place in its order.
  void Expect(const Message& message, MessageState* state);

  // Handles a message that has arrived by the definition of
  // NicOptions::completion. Messages of background traffic are only recorded.
  void Finish(QueuePairId id, const QueuePair& qp, const MessageState& message);

  bool has_any() const { return !arrived_.empty(); }
  // Appends the messages that have arrived, by increasing id.
  void Take(std::vector<MessageId>* arrived);

  // Number of messages that were sent and not taken, without background.
  uint64_t num_in_flight() const { return num_in_flight_; }

 private:
  // Order of the messages of one source, target and channel.
  struct Order {
    uint32_t num_sent = 0;
    uint32_t num_handed_over = 0;
    // Place and id of messages that have overtaken another one: a heap, the
    // lowest place first.
    std::vector<std::pair<uint32_t, MessageId>> early;
  };

  void HandOver(const MessageState& message);

  const PacketSetup& setup_;
  const PacketEvents& events_;
  const Paths& paths_;
  Records& records_;
  std::vector<Order> orders_;
  // Order by source and target and by channel; for look-up only.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, OrderId> order_of_;
  std::vector<MessageId> arrived_;
  uint64_t num_in_flight_ = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_DELIVERIES_H_
