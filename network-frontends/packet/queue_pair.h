// State of a queue pair, the two ends of a reliable RDMA connection between
// NICs: what the sender has still to send and to be acknowledged, and what the
// receiver has.
//
// Packets of a queue pair are numbered from 0. A message is a run of packets of
// which only the last may be short.

#ifndef NETWORK_FRONTENDS_PACKET_QUEUE_PAIR_H_
#define NETWORK_FRONTENDS_PACKET_QUEUE_PAIR_H_

#include <cstdint>
#include <memory>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_window.h"
#include "network-frontends/packet/round_robin.h"
#include "network-frontends/packet/slot_pool.h"

namespace astra {

using MessageSlot = Id<struct MessageSlotTag>;  // Index into a MessagePool.
using OrderId = Id<struct OrderTag>;            // Index into Deliveries.

// A message between Send() and its last acknowledgement. The messages of a
// queue pair form a list.
struct MessageState {
  MessageId id;
  PacketNumber first;  // Number of its first packet.
  uint32_t num_packets = 1;
  uint32_t last_payload = 0;  // Bytes of payload of the last packet.
  MessageSlot next = kNoId<MessageSlot>;
  uint32_t retransmissions = 0;
  bool is_background = false;
  OrderId order = kNoId<OrderId>;  // kNoId: the queue pair keeps the order.
  uint32_t place = 0;              // Place among the messages of that order.
  Bytes bytes;
  TimePs start;

  // Returns the number of the packet after the last of this message.
  PacketNumber end() const { return PacketNumber(first.index() + num_packets); }
};

struct alignas(64) QueuePair {
  // Place of the sender in the queue of its NIC.
  enum class Turn : uint8_t { kNone, kReady, kPaced };

  // State of the sender.
  SendingLimits limits;
  Bytes window;                 // Payload that may be unacknowledged.
  Bytes window_cap;             // Largest value of `window`.
  Bytes flying;                 // Payload sent but not acknowledged.
  PacketNumber next;            // Next packet to send.
  PacketNumber acked;           // Packets before it are acknowledged.
  PacketNumber end;             // Packet after the last of all messages.
  PacketNumber highest;         // Packets before it were sent at least once.
  TimePs next_send;             // When the rate allows the next packet.
  TimePs sent;                  // When the last packet began to leave.
  uint32_t last_size = 0;       // Bytes of the last packet, headers included.
  LinkId link = kNoId<LinkId>;  // Link on which it sends, if any.
  TurnSlot turn_slot;           // Slot of the queue pair at its NIC.
  MessageSlot sending = kNoId<MessageSlot>;  // Message of packet `next`.
  // Oldest message not fully acknowledged.
  MessageSlot oldest = kNoId<MessageSlot>;
  MessageSlot newest = kNoId<MessageSlot>;
  uint32_t in_network = 0;  // Packets of it in queues and on links.
  NodeId source;            // The sender.
  NodeId target;            // The receiver.
  Turn turn = Turn::kNone;
  bool is_open = false;
  bool has_given_up = false;
  bool is_watched = false;   // Each acknowledgement is told to Islands.
  bool has_mark = false;     // A packet was marked since the last ACK.
  uint8_t num_timeouts = 0;  // Timeouts in a row.
  std::unique_ptr<SendWindow> send_window;  // For selective repeat.

  // Packet that the last go-back-N began with.
  PacketNumber went_back_to = kNoId<PacketNumber>;
  TimePs went_back;  // Instant of the last go-back-N.

  // State of the receiver.
  PacketNumber expected;  // Packets before it have arrived.
  MessageSlot receiving = kNoId<MessageSlot>;  // Message of `expected`.
  uint32_t num_unacked = 0;  // Packets since the last acknowledgement.
  // Packet that the last NACK asked for.
  PacketNumber nacked = kNoId<PacketNumber>;
  TimePs nack_time;                               // Instant of the last NACK.
  std::unique_ptr<ReceiveWindow> receive_window;  // For selective repeat.

  TimePs timer = kNever;    // Pending timer of congestion control.
  TimePs timeout = kNever;  // Pending retransmission timer.
  TimePs progress;          // Last acknowledgement of new data.
  Bandwidth window_rate;    // limits.rate that `window` follows.
  Bytes control_window;     // limits.window_bytes that it follows.
  uint64_t sent_bytes = 0;  // Payload, sent again or not.
  uint64_t acked_bytes = 0;
  uint64_t key = 0;  // Hash key of its path; SimAI's: source port.
  uint32_t channel = 0;
};

using QueuePairPool = SlotPool<QueuePairId, QueuePair>;
using MessagePool = SlotPool<MessageSlot, MessageState>;

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_QUEUE_PAIR_H_
