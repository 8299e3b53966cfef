// The two ends of a reliable connection between NICs, as RDMA has them: what is
// left to send and to acknowledge, and what the receiver has.
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

// A message between Send() and its last acknowledgement, in the list of its
// queue pair.
struct MessageState {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  MessageId id;
  uint32_t first = 0;  // Packet.
  uint32_t num_packets = 1;
  uint32_t last_payload = 0;  // Bytes of the last packet.
  uint32_t next = kNone;      // In the list.
  uint32_t retransmissions = 0;
  bool is_background = false;
  uint32_t order = kNone;  // Index into PacketNetwork::orders_; none: no need.
  uint32_t number = 0;     // Place among the messages of that order.
  int64_t bytes = 0;
  int64_t start_ps = 0;

  uint32_t end() const { return first + num_packets; }
};

struct QueuePair {
  static constexpr uint32_t kNone = MessageState::kNone;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Where the sender stands in the queue of its NIC.
  enum class Turn : uint8_t { kNone, kReady, kPaced };

  // The sender.
  SendingLimits limits;
  int64_t window_bytes = 0;      // What may fly, ...
  int64_t window_cap_bytes = 0;  // ... at most, whatever the limits say.
  int64_t flying_bytes = 0;      // Payload that was sent and not acknowledged.
  uint32_t next = 0;             // Packet to send.
  uint32_t acked = 0;            // Packets before are.
  uint32_t end = 0;              // Of all messages.
  uint32_t highest = 0;          // Packets before were sent once or more.
  int64_t next_send_ps = 0;      // When the rate allows the next packet.
  int64_t sent_ps = 0;           // When the last packet began to leave.
  uint32_t last_bytes = 0;       // Of the last packet, headers included.
  uint32_t link = kNone;         // On which it sends; none: no path.
  uint32_t nic_slot = kNone;     // There; see RoundRobin.
  uint32_t sending = kNone;      // The message of packet `next`.
  uint32_t oldest = kNone;       // Message that is not acknowledged.
  uint32_t newest = kNone;
  uint32_t in_network = 0;  // Its packets in queues and on links.
  uint32_t source = 0;      // Nodes.
  uint32_t target = 0;
  Turn turn = Turn::kNone;
  bool is_open = false;
  bool has_given_up = false;
  bool has_mark = false;     // A packet since the last acknowledgement was.
  uint8_t num_timeouts = 0;  // In a row.
  std::unique_ptr<SendWindow> send_window;  // Selective repeat.

  uint32_t went_back_to = kNone;  // Go-back-N: last to this packet, ...
  int64_t went_back_ps = 0;       // ... then.

  // The receiver.
  uint32_t expected = 0;       // Packets before have arrived.
  uint32_t receiving = kNone;  // The message of that packet.
  uint32_t num_unacked = 0;    // Packets since the last acknowledgement.
  uint32_t nacked = kNone;     // What the last NACK asked for, ...
  int64_t nack_ps = 0;         // ... and when.
  std::unique_ptr<ReceiveWindow> receive_window;  // Selective repeat.

  int64_t timer_ps = kNever;    // Of congestion control, that is pending.
  int64_t timeout_ps = kNever;  // That is pending.
  int64_t progress_ps = 0;      // The last acknowledgement that was news.
  Bandwidth window_rate;        // The limits of which window_bytes is.
  int64_t control_window_bytes = 0;
  uint64_t sent_bytes = 0;  // Payload, again or not.
  uint64_t acked_bytes = 0;
  uint64_t key = 0;  // Of its path; with SimAI's hash its source port.
  uint32_t channel = 0;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_QUEUE_PAIR_H_
