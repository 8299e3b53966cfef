// State of a queue pair, the two ends of a reliable RDMA connection between
// NICs: what the sender has still to send and to be acknowledged, and what the
// receiver has.
//
// Packets of a queue pair are numbered from 0. A message is a run of packets of
// which only the last may be short.

#ifndef NETWORK_FRONTENDS_PACKET_QUEUE_PAIR_H_
#define NETWORK_FRONTENDS_PACKET_QUEUE_PAIR_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "astra-core/base/ids.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/packet_window.h"

namespace astra {

// A message between Send() and its last acknowledgement. The messages of a
// queue pair form a list.
struct MessageState {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  MessageId id;
  uint32_t first = 0;  // Number of its first packet.
  uint32_t num_packets = 1;
  uint32_t last_payload = 0;  // Bytes of the last packet.
  uint32_t next = kNone;      // Next message of the list.
  uint32_t retransmissions = 0;
  bool is_background = false;
  uint32_t order = kNone;  // Index into PacketNetwork::orders_, if needed.
  uint32_t number = 0;     // Place among the messages of that Order.
  int64_t bytes = 0;
  int64_t start_ps = 0;

  uint32_t end() const { return first + num_packets; }
};

struct QueuePair {
  static constexpr uint32_t kNone = MessageState::kNone;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Place of the sender in the queue of its NIC.
  enum class Turn : uint8_t { kNone, kReady, kPaced };

  // State of the sender.
  SendingLimits limits;
  int64_t window_bytes = 0;      // Payload that may be unacknowledged.
  int64_t window_cap_bytes = 0;  // Most that window_bytes may be.
  int64_t flying_bytes = 0;      // Payload sent but not acknowledged.
  uint32_t next = 0;             // Next packet to send.
  uint32_t acked = 0;            // Packets before it are acknowledged.
  uint32_t end = 0;              // Number of packets of all messages.
  uint32_t highest = 0;          // Packets before it were sent at least once.
  int64_t next_send_ps = 0;      // When the rate allows the next packet.
  int64_t sent_ps = 0;           // When the last packet began to leave.
  uint32_t last_bytes = 0;       // Size of the last packet, headers included.
  uint32_t link = kNone;         // Link on which it sends; kNone: no path.
  uint32_t nic_slot = kNone;     // Its slot in Nic::turns.
  uint32_t sending = kNone;      // Message of packet `next`.
  uint32_t oldest = kNone;       // Oldest message not fully acknowledged.
  uint32_t newest = kNone;
  uint32_t in_network = 0;  // Its packets in queues and on links.
  uint32_t source = 0;      // Node id of the sender.
  uint32_t target = 0;      // Node id of the receiver.
  Turn turn = Turn::kNone;
  bool is_open = false;
  bool has_given_up = false;
  bool has_mark = false;     // A packet was marked since the last ACK.
  uint8_t num_timeouts = 0;  // Timeouts in a row.
  std::unique_ptr<SendWindow> send_window;  // For selective repeat.

  uint32_t went_back_to = kNone;  // Packet of the last go-back-N.
  int64_t went_back_ps = 0;       // Instant of the last go-back-N.

  // State of the receiver.
  uint32_t expected = 0;       // Packets before it have arrived.
  uint32_t receiving = kNone;  // Message of packet `expected`.
  uint32_t num_unacked = 0;    // Packets since the last acknowledgement.
  uint32_t nacked = kNone;     // Packet that the last NACK asked for.
  int64_t nack_ps = 0;         // Instant of the last NACK.
  std::unique_ptr<ReceiveWindow> receive_window;  // For selective repeat.

  int64_t timer_ps = kNever;         // Pending timer of congestion control.
  int64_t timeout_ps = kNever;       // Pending retransmission timer.
  int64_t progress_ps = 0;           // Last acknowledgement of new data.
  Bandwidth window_rate;             // limits.rate that window_bytes follows.
  int64_t control_window_bytes = 0;  // limits.window_bytes it follows.
  uint64_t sent_bytes = 0;           // Payload, sent again or not.
  uint64_t acked_bytes = 0;
  uint64_t key = 0;  // Hash key of its path; SimAI's: source port.
  uint32_t channel = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_QUEUE_PAIR_H_
