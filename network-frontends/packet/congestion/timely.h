// TIMELY: a sender follows the slope of its round-trip time: it adds to its
// rate while the time falls and cuts it while the time rises. It starts at line
// rate.
//
// Once per round trip, at the first acknowledgement of what was sent after the
// last time, with w the ewma_weight,
//
//   difference <- (1 - w) difference + w (RTT - RTT before)
//   gradient = difference / least_rtt
//
//   RTT < T_low:       rate += delta
//   RTT > T_high:      rate *= 1 - beta (1 - T_high/RTT)
//   gradient <= 0:     rate += delta
//   otherwise:         rate *= 1 - beta gradient
//
// T_low and T_high are low_threshold and high_threshold, beta is
// decrease_factor, and delta is additive_increase or, after hyper_steps
// increases in a row, hyper_increase. least_rtt is one value for all queue
// pairs, whatever their paths, as are the thresholds. As in SimAI, increases
// below T_low count among these, which the paper does not have. The first round
// trip only gives the first RTT. The rate stays within [min_rate, line rate];
// the window is left alone.
//
// TIMELY does not converge to fairness: any split of the rate that keeps the
// queue constant, between the thresholds, is a fixed point, and which is
// reached depends on the start (Y. Zhu et al., "ECN or delay: lessons learnt
// from analysis of DCQCN and TIMELY", CoNEXT 2016).
//
// The three times must suit the network. The paper's and SimAI's are 20, 50 and
// 500 us: 2.5 and 25 least round trips. The increases must suit the rate, too:
// after a cut to min_rate, 50 Mbps a round trip take long to fill 400 Gbps.
//
// Source: R. Mittal et al., "TIMELY: RTT-based congestion control for the
// datacenter", SIGCOMM 2015, algorithm 1 and section 4; defaults are the
// paper's, for NICs of 10 Gbps.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_TIMELY_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_TIMELY_H_

#include <cstdint>
#include <vector>

#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/congestion/congestion_options.h"

namespace astra {

class Timely final : public CongestionControl {
 public:
  explicit Timely(const TimelyOptions& options);

  Telemetry telemetry() const override { return Telemetry::kSendTime; }
  // A time stamp of 8 B.
  int64_t header_bytes(uint32_t num_hops) const override;
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;

 private:
  struct State {
    double rate = 0;  // In bits per second.
    double line_rate = 0;
    double difference = 0;       // In picoseconds.
    TimePs last_rtt;             // 0: there was none yet.
    uint64_t update_after = 0;   // What is waited for to be acknowledged.
    uint32_t num_increases = 0;  // In a row.
  };
  static_assert(sizeof(State) == 48);

  // What the rate is multiplied by; 1: it is to increase.
  double DecreaseFor(TimePs rtt, const State& state) const;

  TimelyOptions options_;
  std::vector<State> states_;  // By queue pair.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_TIMELY_H_
