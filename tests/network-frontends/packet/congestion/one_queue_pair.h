// A congestion control with one queue pair, which a test feeds by hand.

#ifndef TESTS_NETWORK_FRONTENDS_PACKET_CONGESTION_ONE_QUEUE_PAIR_H_
#define TESTS_NETWORK_FRONTENDS_PACKET_CONGESTION_ONE_QUEUE_PAIR_H_

#include <cstdint>

#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra::testing {

// 100 Gbps and 8 us: 100 kB are under way, 25 packets of 4 kB.
inline PathProperties PathOf100Gbps() {
  return {.line_rate = Gbps(100),
          .bottleneck = Gbps(100),
          .base_rtt = Microseconds(8),
          .network_rtt = Microseconds(8),
          .network_window_bytes = 100'000,
          .num_hops = 2,
          .packet_bytes = 4'000};
}

template <class Control>
class OneQueuePair {
 public:
  template <class Options>
  explicit OneQueuePair(const Options& options,
                        const PathProperties& path = PathOf100Gbps())
      : control_(options) {
    control_.Open(QueuePairId(0), path, TimePs(), &limits_);
  }

  // Acknowledges ack.acked_bytes more. Always a window of 100 kB is under way,
  // so that 100 kB make a round trip.
  void Ack(Acknowledgement ack) {
    acked_ += static_cast<uint64_t>(ack.acked_bytes);
    ack.acked_total_bytes = acked_;
    ack.unacked_bytes = 100'000;
    ack.sent_bytes = acked_ + 100'000;
    control_.OnAck(QueuePairId(0), ack, &limits_);
  }

  // Calls OnTimer as often as it is asked for until `now`.
  void RunTimers(TimePs now) {
    while (limits_.timer <= now) {
      const TimePs timer = limits_.timer;
      limits_.timer = kNoTimer;
      control_.OnTimer(QueuePairId(0), timer, &limits_);
    }
  }

  void Lose(TimePs now, bool is_timeout = false) {
    control_.OnLoss(QueuePairId(0), now, is_timeout, &limits_);
  }

  double gbps() const { return ToGbps(limits_.rate); }
  int64_t window() const { return limits_.window_bytes; }
  TimePs timer() const { return limits_.timer; }
  Control& control() { return control_; }

 private:
  Control control_;
  SendingLimits limits_;
  uint64_t acked_ = 0;
};

}  // namespace astra::testing

#endif  // TESTS_NETWORK_FRONTENDS_PACKET_CONGESTION_ONE_QUEUE_PAIR_H_
