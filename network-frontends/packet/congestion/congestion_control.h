// Interface of congestion controls: how fast senders may send, and how the rate
// follows what the network tells them.
//
// One object serves all queue pairs of a simulation and keeps their state in
// arrays by queue pair. It is told of acknowledgements, losses and timers, and
// it answers by setting the SendingLimits of the queue pair; the packet network
// reads nothing else. There is one virtual call per acknowledgement and none
// per packet.

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

// Limits of options in network files, far beyond any real network and narrow
// enough that nothing overflows.
inline constexpr double kMostTimes = 1e6;  // Limit of a factor.
inline constexpr int64_t kMostPackets = 1'000'000;

// Telemetry that packets must bring back for a congestion control.
enum class Telemetry : uint8_t {
  kNone,      // Only the ECN mark.
  kSendTime,  // Mark, and when the packet began to leave (for the RTT).
  kPerHop,    // kSendTime, and a HopTelemetry of each switch (INT).
  // kSendTime, and the utilization of the busiest port on the path, by the
  // average that each switch keeps of its ports (PINT).
  kUtilization,
};

// Record that a switch writes into a packet that begins to leave through a
// port: in-band network telemetry (Y. Li et al., "HPCC", SIGCOMM 2019, section
// 3.1).
struct HopTelemetry {
  TimePs time;               // When the packet began to leave.
  int64_t sent_bytes = 0;    // Bytes that the port has sent before.
  int64_t queued_bytes = 0;  // Bytes left in the queue of the port.
  Bandwidth rate;            // Rate of the port.
};

// Path of a queue pair in an idle network.
struct PathProperties {
  Bandwidth line_rate;   // Rate of the sender's port.
  Bandwidth bottleneck;  // Rate of the slowest link.
  // Time of a full packet to the target and of its acknowledgement back.
  TimePs base_rtt;
  // base_rtt of the longest path in the network, for algorithms that use one
  // value for all senders.
  TimePs network_rtt;
  // Largest bandwidth-delay product of a path in the network.
  int64_t network_window_bytes = 0;
  uint32_t num_hops = 0;     // Number of links, one way.
  int64_t packet_bytes = 0;  // A full packet, headers included.
};

// Limits of a queue pair, which the congestion control sets.
struct SendingLimits {
  // Highest rate of packets. At line rate or above, packets are not paced.
  Bandwidth rate;
  // Largest number of unacknowledged bytes; one packet is always allowed.
  int64_t window_bytes = std::numeric_limits<int64_t>::max();
  // Instant at which OnTimer is to be called; kNoTimer: never.
  TimePs timer = kNoTimer;
};

struct Acknowledgement {
  TimePs now;
  int64_t acked_bytes = 0;         // Payload acknowledged for the first time.
  int64_t unacked_bytes = 0;       // Payload that is still under way.
  uint64_t sent_bytes = 0;         // Payload that the queue pair has ever sent.
  uint64_t acked_total_bytes = 0;  // Payload that was ever acknowledged.
  bool is_marked = false;          // The answered packet was marked with ECN.
  TimePs rtt;  // RTT of the answered packet, unless telemetry is kNone.
  absl::Span<const HopTelemetry> hops;  // kPerHop: records by switch, in order.
  double utilization = 0;  // kUtilization: the busiest port's; 1 is full.
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  virtual Telemetry telemetry() const { return Telemetry::kNone; }

  // Returns the bytes that telemetry adds to the header of each data packet and
  // acknowledgement on a path of `num_hops` hops.
  virtual int64_t header_bytes(uint32_t num_hops) const {
    (void)num_hops;
    return 0;
  }

  // Returns whether the control uses ECN marks, which then count as congestion
  // notifications.
  virtual bool heeds_marks() const { return false; }

  // Returns whether a new rate also holds for the packet that waits for the old
  // one. If not, it holds from the packet after it, unless it is higher and the
  // NIC has NicOptions::pace_follows_rate.
  virtual bool paces_anew() const { return false; }

  // Returns whether the queue pair is as it was after Open(), and
  // acknowledgements without marks leave it so.
  virtual bool IsAtRest(QueuePairId qp) const {
    (void)qp;
    return false;
  }

  // Begins a queue pair, whose id may have belonged to an earlier one. Ids are
  // dense and grow by one at a time.
  virtual void Open(QueuePairId qp, const PathProperties& path, TimePs now,
                    SendingLimits* limits) = 0;

  // Handles an acknowledgement. Times never decrease from call to call of one
  // queue pair.
  virtual void OnAck(QueuePairId qp, const Acknowledgement& ack,
                     SendingLimits* limits) = 0;

  // Handles the instant limits->timer, which is kNoTimer during this call.
  virtual void OnTimer(QueuePairId qp, TimePs now, SendingLimits* limits) {
    (void)qp, (void)now, (void)limits;
  }

  // Handles lost packets: the receiver has reported them, or (`is_timeout`) no
  // acknowledgement came for too long.
  virtual void OnLoss(QueuePairId qp, TimePs now, bool is_timeout,
                      SendingLimits* limits) {
    (void)qp, (void)now, (void)is_timeout, (void)limits;
  }
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_CONGESTION_CONTROL_H_
