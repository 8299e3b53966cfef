// Swift: a sender keeps its round-trip time at a target, by a window that may
// be less than a packet. It starts with the bandwidth-delay product.
//
// With w the window in packets, an acknowledgement of n packets has this
// effect:
//
//   RTT < target:  w += a n/w            (w += a n where w < 1)
//   otherwise:     w *= max(1 - beta (RTT - target)/RTT, 1 - max_decrease)
//                  but no more than once per RTT
//
//   target = base RTT + base_target + hops per_hop + scaling(w)
//   scaling(w) = min(max(A/sqrt(w) + B, 0), range)
//       A = range / (1/sqrt(min_window) - 1/sqrt(max_window))
//       B = -A/sqrt(max_window)
//
// with a the additive_increase, beta the decrease_factor and range =
// flow_scaling_range base_target. By the scaling, flows with small windows,
// which are many, aim for a longer queue, and small windows grow towards large
// ones. A window below one packet is a pause of RTT/w from packet to packet:
// the window is then one packet and the rate w packets per RTT.
//
// A loss cuts the window by max_decrease, at most once per RTT. The fifth
// timeout in a row leaves the smallest window, which is what min_rate sends in
// the base RTT. The largest window is what line rate sends in the target
// without scaling: alone, a sender would never exceed its target.
//
// Not modelled: the second window, for the delay of the receiving host. The
// base RTT is known here and is not part of a target in microseconds, hence the
// smaller base_target. Other defaults are the paper's (beta 0.8, max_decrease
// 0.5, a 1) or of the order that the paper shows.
//
// Source: G. Kumar et al., "Swift: delay is simple and effective for congestion
// control in the datacenter", SIGCOMM 2020, algorithm 1 and section 3.5.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_SWIFT_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_SWIFT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

struct SwiftOptions {
  TimePs base_target = Microseconds(5);  // Target delay beyond the base RTT.
  TimePs per_hop = Microseconds(1);
  double additive_increase = 1.0;  // Packets per round trip.
  double decrease_factor = 0.8;
  double max_decrease = 0.5;
  double flow_scaling_range = 5.0;  // Largest scaling, in base_targets.
  double min_window = 0.1;          // Packets, for flow scaling.
  double max_window = 100.0;        // Packets, for flow scaling.
  Bandwidth min_rate = Mbps(100);   // Not in the paper.
};

template <class Visitor>
void Visit(SwiftOptions& o, Visitor& v) {
  v.Time("base_target", o.base_target);
  v.Time("per_hop", o.per_hop);
  v.Number("additive_increase", o.additive_increase, 0, kMostTimes);
  v.Number("decrease_factor", o.decrease_factor, 0, 1);
  v.Number("max_decrease", o.max_decrease, 0, 1);
  v.Number("flow_scaling_range", o.flow_scaling_range, 0, kMostTimes);
  v.Number("min_window", o.min_window, 0, kMostTimes);
  v.Number("max_window", o.max_window, 0, kMostTimes);
  v.Rate("min_rate", o.min_rate);
}

class Swift final : public CongestionControl {
 public:
  using Options = SwiftOptions;
  static constexpr std::string_view kName = "swift";
  static constexpr std::string_view kDescription =
      "window that keeps the round-trip time at a target";
  static std::string_view WhyWrong(const Options& options);

  // Requires 0 < min_window < max_window.
  explicit Swift(const SwiftOptions& options);

  Telemetry telemetry() const override { return Telemetry::kSendTime; }
  // The header of a packet has a time stamp of 8 B.
  int64_t header_bytes(uint32_t num_hops) const override;
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;
  void OnLoss(QueuePairId qp, TimePs now, bool is_timeout,
              SendingLimits* limits) override;

 private:
  struct State {
    double window = 0;  // Window. All three windows are in packets.
    double min_window = 0;
    double max_window = 0;
    double target = 0;  // Target in picoseconds, without flow scaling.
    TimePs last_rtt;
    TimePs last_decrease;
    Bandwidth line_rate;
    uint32_t packet_bytes = 0;
    uint32_t num_timeouts = 0;  // Timeouts in a row.
  };
  static_assert(sizeof(State) == 64);

  // Returns the scaling of the target for `window`, in picoseconds.
  double FlowScaling(double window) const;
  // Multiplies the window by `factor`, unless it was cut within the last round
  // trip.
  static void Decrease(double factor, TimePs now, State& state);
  void SetLimits(State& state, SendingLimits* limits) const;

  SwiftOptions options_;
  double scaling_range_;       // Range in picoseconds, as A and B are.
  double scaling_slope_;       // A
  double scaling_offset_;      // B
  std::vector<State> states_;  // State of each queue pair.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_SWIFT_H_
