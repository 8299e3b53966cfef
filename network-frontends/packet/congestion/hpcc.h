// HPCC: a sender computes from switch telemetry how many bytes are under way
// through the busiest port of its path, and sets its window so that they fill a
// given share of that port. It starts with a full window.
//
// Let T be the round trip of an idle network (PathProperties::network_rtt, one
// value for all senders). Each acknowledgement brings, for each port i on the
// path, the bytes that it had sent, the bytes that were left in its queue, the
// time t, and its rate B. The utilization of the port since the previous
// acknowledgement is
//
//   u_i = min(queued, queued before)/(B T) + (sent - sent before)/(B dt)
//
// The largest u_i, called u, moves the average U, which starts at 1, over its
// dt:
//
//   U <- (1 - dt'/T) U + (dt'/T) u      with dt' = min(dt, T)
//
// The window W follows a reference window Wc:
//
//   U >= eta, or Wc grew max_stages times in a row:  W <- Wc eta/U + W_AI
//   otherwise:                                       W <- Wc + W_AI
//
// with eta the target_utilization and W_AI = additive_increase T. Wc becomes W
// only once per round trip, at the first acknowledgement of what was sent after
// the previous update, so that a sender does not react to one congestion many
// times. With fast_react the window changes at the other acknowledgements too.
// The rate is W/T: packets are paced, and a new rate also moves the packet that
// waits for the old one. W stays within [min_rate T, line rate T].
//
// Only ports of switches count. The sender's own port does not: queue pairs
// that share it would take one another for congestion.
//
// A port cannot send more than its rate. Where the counters say it did, they
// belong to two ports, because packets took different paths; the port counts as
// full. A port at which no time has passed is left out. If the number of ports
// changes, so did the path, and the acknowledgement is only remembered.
//
// Header: 8 B for each port and 2 B. Every packet has room for five ports, the
// most in a fabric of three tiers, so it is 42 B as in the paper and in SimAI.
// Ports beyond the fifth are not reported. Defaults: eta and max_stages are the
// paper's; W_AI is 50 Mbps times T as in its evaluation, for 100 senders at 100
// Gbps.
//
// Source: Y. Li et al., "HPCC: high precision congestion control", SIGCOMM
// 2019, algorithm 1.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

struct HpccOptions {
  double target_utilization = 0.95;
  uint32_t max_stages = 5;  // Additive increases between two full updates.
  Bandwidth additive_increase = Mbps(50);
  Bandwidth min_rate = Mbps(100);
  bool fast_react = true;  // Reacts also within a round trip.
};

template <class Visitor>
void Visit(HpccOptions& o, Visitor& v) {
  v.Number("target_utilization", o.target_utilization, 0, 1);
  v.Integer("max_stages", o.max_stages, 0, kMostPackets);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("min_rate", o.min_rate);
  v.Bool("fast_react", o.fast_react);
}

class Hpcc final : public CongestionControl {
 public:
  using Options = HpccOptions;
  static constexpr std::string_view kName = "hpcc";
  static constexpr std::string_view kDescription =
      "window from what each switch tells of its port (INT)";
  static std::string_view WhyWrong(const Options& options);

  // Requires target_utilization > 0.
  explicit Hpcc(const HpccOptions& options);

  Telemetry telemetry() const override { return Telemetry::kPerHop; }
  int64_t header_bytes(uint32_t num_hops) const override;
  bool paces_anew() const override { return true; }
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;

  // Measure and React are the two halves of OnAck, for a control that learns U
  // in another way.

  // Returns U after this acknowledgement and remembers its telemetry for the
  // next. Returns nothing if there is no earlier telemetry to compare with.
  std::optional<double> Measure(QueuePairId qp, const Acknowledgement& ack);

  // Sets the window for a path of this utilization. The first acknowledgement
  // of a queue pair only begins its first round trip.
  void React(QueuePairId qp, const Acknowledgement& ack, double utilization,
             SendingLimits* limits);

 private:
  struct State {
    double reference_window = 0;  // Wc, in bytes.
    double max_window = 0;
    double utilization = 1;     // U
    TimePs rtt;                 // T
    uint64_t update_after = 0;  // Byte to acknowledge before Wc changes.
    uint32_t packet_bytes = 0;
    uint32_t stage = 0;
    uint32_t first_hop = 0;  // Index into hops_.
    uint32_t num_hops = 0;   // 0: nothing is remembered.
    uint32_t hops_room = 0;
  };
  static_assert(sizeof(State) == 64);

  void Remember(absl::Span<const HopTelemetry> hops, State& state);

  HpccOptions options_;
  std::vector<State> states_;       // State of each queue pair.
  std::vector<HopTelemetry> hops_;  // Telemetry of the last acknowledgements.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_H_
