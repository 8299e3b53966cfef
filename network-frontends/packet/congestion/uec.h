// Ultra Ethernet's network-signalled congestion control, NSCC: a window that
// follows two signals. Switches mark a packet by the queue that it leaves
// behind, so a mark tells of delay to come; the measured delay tells of the
// past. It starts with the largest window.
//
//                 delay < target            delay >= target
//   not marked    proportional increase     fair increase
//   marked        no operation              multiplicative decrease
//
// delay is the RTT beyond the base RTT of the queue pair. The target is a share
// of the round trip R of an idle network (PathProperties::network_rtt). With w
// the window and n the bytes acknowledged,
//
//   proportional:    w += alpha a b packet (1 - delay/target) n/w
//   fair:            w += fi a packet n/w
//   multiplicative:  w *= max(1 - gamma (avg - target)/avg, 1 - max_decrease),
//                    no more than once per base RTT, if avg > target
//   every R besides: w += eta a packet
//
// where a = line rate R / 150 kB and b = target / 12 us scale the constants to
// the network, and avg is the delay averaged over about a round trip: each
// acknowledgement weighs n/w. Increases are added up and applied after each
// adjust_packets packets or R.
//
// Fast increase takes the place of proportional increase once a whole window
// has come back without delay, and until there is delay: w += fi_scale a n. A
// delay below an eighth of the target counts as none.
//
// Quick adapt acts where packets were lost or a delay exceeds quick_adapt_delay
// targets. If less than quick_adapt_below of the largest window was delivered
// in the last period (base RTT and target), the window becomes what was
// delivered, once per period. Marked packets then change nothing until all
// bytes under way at that time have come back. A loss without quick adapt takes
// a packet from the window.
//
// The window stays within [a packet, max_window_share line rate base RTT].
// Packets are not paced; acknowledgements clock them.
//
// Not modelled: trimmed packets, which would be lost packets known early; the
// receiver's penalty; credits of the receiver (RCCC). A timeout is a loss.
//
// The base RTT is known here rather than the least that was measured. The
// specification leaves to implementations how delay is averaged and how much
// delay counts as none; the choices above are ours.
//
// Source: Ultra Ethernet Consortium, "Ultra Ethernet specification" 1.0, 2025,
// section 3.6.13, and the defaults that its tables of parameters give for
// networks without trimming.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_UEC_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_UEC_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

// Network-signalled congestion control (NSCC) of Ultra Ethernet, without the
// parts that need packet trimming.
struct UecOptions {
  double max_window_share = 1.5;     // Largest window over bandwidth x delay.
  double target_delay_share = 1.0;   // Queueing delay, in base RTTs.
  double proportional_gain = 4.0;    // alpha
  double fair_increase = 5.0;        // fi, in packets per round trip.
  double fast_increase = 0.25;       // fi_scale, share of acknowledged bytes.
  double periodic_increase = 0.15;   // eta, in packets per round trip.
  double decrease_gain = 0.8;        // gamma
  double max_decrease = 0.5;         // 1 - max_md_jump
  uint32_t adjust_packets = 8;       // Packets between two window changes.
  double quick_adapt_delay = 4.0;    // Threshold, in target delays.
  double quick_adapt_below = 0.125;  // 2^-qa_gate, share of the largest window.
  double quick_adapt_share = 1.0;    // Share of the delivered bytes.
};

template <class Visitor>
void Visit(UecOptions& o, Visitor& v) {
  v.Number("max_window_share", o.max_window_share, 0, kMostTimes);
  v.Number("target_delay_share", o.target_delay_share, 0, kMostTimes);
  v.Number("proportional_gain", o.proportional_gain, 0, kMostTimes);
  v.Number("fair_increase", o.fair_increase, 0, kMostTimes);
  v.Number("fast_increase", o.fast_increase, 0, kMostTimes);
  v.Number("periodic_increase", o.periodic_increase, 0, kMostTimes);
  v.Number("decrease_gain", o.decrease_gain, 0, 1);
  v.Number("max_decrease", o.max_decrease, 0, 1);
  v.Integer("adjust_packets", o.adjust_packets, 1, kMostPackets);
  v.Number("quick_adapt_delay", o.quick_adapt_delay, 0, kMostTimes);
  v.Number("quick_adapt_below", o.quick_adapt_below, 0, 1);
  v.Number("quick_adapt_share", o.quick_adapt_share, 0, 1);
}

class Uec final : public CongestionControl {
 public:
  using Options = UecOptions;
  static constexpr std::string_view kName = "uec";
  static constexpr std::string_view kDescription =
      "window from ECN marks and delay (Ultra Ethernet NSCC)";
  static std::string_view WhyWrong(const Options& options);

  // Requires max_window_share > 0 and target_delay_share > 0.
  explicit Uec(const UecOptions& options);

  Telemetry telemetry() const override { return Telemetry::kSendTime; }
  bool heeds_marks() const override { return true; }
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;
  void OnLoss(QueuePairId qp, TimePs now, bool is_timeout,
              SendingLimits* limits) override;

 private:
  struct State {
    double window = 0;  // Window in bytes, as max_window is.
    double max_window = 0;
    double increase = 0;       // Bytes x window, not yet applied.
    double average_delay = 0;  // avg in picoseconds; target_delay too.
    double target_delay = 0;   // target_delay_share R
    double scale = 0;          // a
    TimePs base_rtt;
    TimePs last_adjust;
    TimePs last_decrease;
    TimePs period_end = kNoTimer;  // End of the period; kNoTimer: not begun.
    int64_t delivered_bytes = 0;   // Delivered in this period.
    int64_t received_bytes = 0;    // Received since the last adjustment.
    int64_t undelayed_bytes = 0;   // Received without delay, in a row.
    // Bytes under way at the last acknowledgement.
    int64_t unacked_bytes = 0;
    int64_t ignored_bytes = 0;  // Bytes whose marks are still ignored.
    uint32_t packet_bytes = 0;
    bool lost = false;  // Packets were lost since the last quick adapt.
    bool is_fast = false;
  };
  static_assert(sizeof(State) == 128);

  // Returns whether the window has just become what was delivered, or did so
  // recently enough that this acknowledgement is ignored.
  bool QuickAdapt(TimePs now, bool is_marked, double delay, State& state) const;
  void IncreaseProportionally(double bytes, double delay, State& state) const;
  void Decrease(TimePs now, State& state) const;
  // Returns whether R has passed since the last periodic increase.
  bool IsRoundTripOver(TimePs now, const State& state) const;
  void Adjust(TimePs now, State& state) const;
  static void SetLimits(State& state, SendingLimits* limits);

  UecOptions options_;
  std::vector<State> states_;  // State of each queue pair.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_UEC_H_
