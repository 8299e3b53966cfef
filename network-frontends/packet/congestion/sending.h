// Helpers that congestion controls share: state by queue pair, and arithmetic
// of rates and windows. They compute in double, in bits per second and bytes,
// with operations that IEEE 754 rounds the same way everywhere.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_SENDING_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_SENDING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

// Returns a fresh state for `qp`, after growing `states` if necessary.
template <class State>
State& OpenState(QueuePairId qp, const PathProperties& path,
                 std::vector<State>& states) {
  ASTRA_CHECK(path.line_rate > Bandwidth() && path.base_rtt > TimePs() &&
                  path.network_rtt > TimePs() && path.packet_bytes > 0,
              "path of queue pair {}", qp);
  if (qp.index() >= states.size()) states.resize(qp.index() + size_t{1});
  return states[qp.index()] = State();
}

inline double ToDouble(Bandwidth rate) {
  return static_cast<double>(rate.count());
}
inline double ToDouble(TimePs time) {
  return static_cast<double>(time.count());
}

// Returns the bytes that `rate`, in bits per second, sends in `time`.
inline double BytesIn(double rate, TimePs time) {
  return rate * ToDouble(time) / 8e12;
}

// Returns the rate, in bits per second, that sends `bytes` in `time`.
inline double RateOf(double bytes, TimePs time) {
  return bytes * 8e12 / ToDouble(time);
}

// Returns `rate` limited to [least, most], or `most` if it is below `least`.
inline double Within(double rate, double least, double most) {
  return std::min(std::max(rate, least), most);
}

inline Bandwidth ToBandwidth(double rate) {
  return Bandwidth(std::llround(rate));
}

// Returns a window of whole bytes, at least one packet.
inline int64_t ToWindow(double bytes, int64_t packet_bytes) {
  return std::max<int64_t>(std::llround(bytes), packet_bytes);
}

// Returns the last payload byte that is under way, counted from the first byte
// of the queue pair. Bytes sent from now on are acknowledged beyond it, one
// round trip later. `sent_bytes` does not serve, because it counts
// retransmissions again.
inline uint64_t EndOfRoundTrip(const Acknowledgement& ack) {
  return ack.acked_total_bytes + static_cast<uint64_t>(ack.unacked_bytes);
}

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_SENDING_H_
