// How fast senders may send, and how that follows what the network tells them.
//
// One object serves all queue pairs of a simulation and keeps their state in
// arrays by queue pair. It is told of acknowledgements, losses and timers and
// answers by setting the limits of the queue pair; the engine reads nothing
// else. One virtual call per acknowledgement, none per packet.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_CONGESTION_CONTROL_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_CONGESTION_CONTROL_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

using QueuePairId = Id<struct QueuePairTag>;

inline constexpr TimePs kNoTimer(std::numeric_limits<int64_t>::max());

// What packets must bring home for a congestion control.
enum class Telemetry : uint8_t {
  kNone,         // Only the ECN mark.
  kSendTime,     // And when the packet began to leave, for the round-trip time.
  kPerHop,       // And what each switch on the way knew of its port (INT).
  kUtilization,  // kSendTime, and how busy the busiest port on the way is, by
                 // the average that each switch keeps of its ports (PINT).
};

// What a switch writes into a packet as it begins to leave through a port. In-
// band network telemetry; Y. Li et al., "HPCC", SIGCOMM 2019, section 3.1.
struct HopTelemetry {
  TimePs time;               // When the packet began to leave.
  int64_t sent_bytes = 0;    // That the port has sent before, in all.
  int64_t queued_bytes = 0;  // That the packet leaves behind.
  Bandwidth rate;            // Of the port.
};

// The way of a queue pair, when nothing else is on it.
struct PathProperties {
  Bandwidth line_rate;   // Of the sender's port.
  Bandwidth bottleneck;  // The slowest link.
  // Of a full packet there and its acknowledgement back.
  TimePs base_rtt;
  // base_rtt of the longest path in the network; what algorithms that want one
  // value for all senders use.
  TimePs network_rtt;
  int64_t network_window_bytes = 0;  // Bandwidth-delay product of that path.
  uint32_t num_hops = 0;             // Links, one way.
  int64_t packet_bytes = 0;          // Of a full packet, headers included.
};

// What a queue pair may do. Set by the congestion control.
struct SendingLimits {
  // Packets leave no faster than that. At line rate or above: not paced.
  Bandwidth rate;
  // Bytes that may be unacknowledged; one packet may always be.
  int64_t window_bytes = std::numeric_limits<int64_t>::max();
  // When OnTimer wants to be called; kNoTimer: not at all.
  TimePs timer = kNoTimer;
};

struct Acknowledgement {
  TimePs now;
  int64_t acked_bytes = 0;         // Payload that was not acknowledged before.
  int64_t unacked_bytes = 0;       // Payload that is still under way.
  uint64_t sent_bytes = 0;         // Payload that the queue pair has ever sent.
  uint64_t acked_total_bytes = 0;  // Payload that was ever acknowledged.
  bool is_marked = false;          // The packet it answers was marked with ECN.
  TimePs rtt;                      // Of that packet, unless kNone.
  absl::Span<const HopTelemetry> hops;  // kPerHop: of switches, in order.
  double utilization = 0;  // kUtilization: of the busiest port; 1 is full.
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  virtual Telemetry telemetry() const { return Telemetry::kNone; }

  // What telemetry adds to the header of each data packet and acknowledgement
  // of a path with that many hops.
  virtual int64_t header_bytes(uint32_t num_hops) const {
    (void)num_hops;
    return 0;
  }

  // Whether ECN marks matter to it, so that they are congestion notifications.
  virtual bool heeds_marks() const { return false; }

  // Whether a new rate also holds for the packet that waits for the old one. If
  // not, it holds from the packet after that on.
  virtual bool paces_anew() const { return false; }

  // A queue pair begins, in a slot that may have been another's. Ids are dense
  // and grow by one at a time.
  virtual void Open(QueuePairId qp, const PathProperties& path, TimePs now,
                    SendingLimits* limits) = 0;

  // Times never decrease from call to call of one queue pair.
  virtual void OnAck(QueuePairId qp, const Acknowledgement& ack,
                     SendingLimits* limits) = 0;

  // The instant limits->timer has come. It is kNoTimer when this is called.
  virtual void OnTimer(QueuePairId qp, TimePs now, SendingLimits* limits) {
    (void)qp, (void)now, (void)limits;
  }

  // Packets were lost: the receiver has said so, or nothing came for too long.
  virtual void OnLoss(QueuePairId qp, TimePs now, bool is_timeout,
                      SendingLimits* limits) {
    (void)qp, (void)now, (void)is_timeout, (void)limits;
  }
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_CONGESTION_CONTROL_H_
