// TIMELY: a sender follows the slope of its round-trip time: it raises its rate
// while the time falls and cuts it while the time rises. It starts at line
// rate.
//
// It acts once per round trip, at the first acknowledgement of what was sent
// after the last time. With w the ewma_weight,
//
//   difference <- (1 - w) difference + w (RTT - RTT before)
//   gradient = difference / least_rtt
//
//   RTT < T_low:       rate += delta
//   RTT > T_high:      rate *= 1 - beta (1 - T_high/RTT)
//   gradient <= 0:     rate += delta
//   otherwise:         rate *= 1 - beta gradient
//
// T_low and T_high are low_threshold and high_threshold, and beta is
// decrease_factor. delta is additive_increase or, after hyper_steps increases
// in a row, hyper_increase. As in SimAI but not in the paper, increases below
// T_low count among these. least_rtt and the thresholds are the same for all
// queue pairs, whatever their paths. The first round trip only gives the first
// RTT. The rate stays within [min_rate, line rate]; the window is left alone.
//
// TIMELY does not converge to fairness: any split of the rate that keeps the
// queue constant, between the thresholds, is a fixed point. Which one is
// reached depends on the start (Y. Zhu et al., "ECN or delay: lessons learnt
// from analysis of DCQCN and TIMELY", CoNEXT 2016).
//
// The three times must suit the network. The paper's and SimAI's are 20, 50 and
// 500 us: 2.5 and 25 least round trips. The increases must suit the rate, too:
// after a cut to min_rate, 50 Mbps per round trip take long to fill 400 Gbps.
//
// Source: R. Mittal et al., "TIMELY: RTT-based congestion control for the
// datacenter", SIGCOMM 2015, algorithm 1 and section 4. Defaults are the
// paper's, for NICs of 10 Gbps.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_TIMELY_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_TIMELY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

struct TimelyOptions {
  double ewma_weight = 0.875;
  double decrease_factor = 0.8;
  TimePs least_rtt = Microseconds(20);  // RTT that the gradient is relative to.
  TimePs low_threshold = Microseconds(50);
  TimePs high_threshold = Microseconds(500);
  Bandwidth additive_increase = Mbps(10);
  Bandwidth hyper_increase = Mbps(50);
  Bandwidth min_rate = Mbps(100);
  uint32_t hyper_steps = 5;
};

template <class Visitor>
void Visit(TimelyOptions& o, Visitor& v) {
  v.Number("ewma_weight", o.ewma_weight, 0, 1);
  v.Number("decrease_factor", o.decrease_factor, 0, 1);
  v.Time("least_rtt", o.least_rtt);
  v.Time("low_threshold", o.low_threshold);
  v.Time("high_threshold", o.high_threshold);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("hyper_increase", o.hyper_increase);
  v.Rate("min_rate", o.min_rate);
  v.Integer("hyper_steps", o.hyper_steps, 0, kMostPackets);
}

class Timely final : public CongestionControl {
 public:
  using Options = TimelyOptions;
  static constexpr std::string_view kName = "timely";
  static constexpr std::string_view kDescription =
      "rate that follows the slope of the round-trip time";
  static std::string_view WhyWrong(const Options& options);

  explicit Timely(const TimelyOptions& options);

  Telemetry telemetry() const override { return Telemetry::kSendTime; }
  // The header of a packet has a time stamp of 8 B.
  int64_t header_bytes(uint32_t num_hops) const override;
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;

 private:
  struct State {
    double rate = 0;  // Sending rate in bit/s, as line_rate is.
    double line_rate = 0;
    double difference = 0;       // Average change of the RTT, in ps.
    TimePs last_rtt;             // RTT of the last update; 0: there was none.
    uint64_t update_after = 0;   // Byte to acknowledge before the next update.
    uint32_t num_increases = 0;  // Increases in a row.
  };
  static_assert(sizeof(State) == 48);

  // Returns the factor by which to cut the rate; 1 means that it is to
  // increase.
  double DecreaseFor(TimePs rtt, const State& state) const;

  TimelyOptions options_;
  std::vector<State> states_;  // State of each queue pair.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_TIMELY_H_
