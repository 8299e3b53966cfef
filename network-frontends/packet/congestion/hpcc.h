// HPCC: a sender computes from what switches tell how many bytes are under way
// through the busiest port of its path, and sets its window so that they fill a
// given share of it. It starts with a full window.
//
// With T the round trip of an idle network (PathProperties::network_rtt, one
// value for all), each acknowledgement brings for each port i on the way the
// bytes it had sent, those it left queued, the time t, and its rate B. Since
// the acknowledgement before,
//
//   u_i = min(queued, queued before)/(B T) + (sent - sent before)/(B dt)
//
// is how full the port was. The largest, over its dt, moves the average
//
//   U <- (1 - dt'/T) U + (dt'/T) u      with dt' = min(dt, T)
//
// from 1, and the window W follows a reference Wc:
//
//   U >= eta, or Wc grew max_stages times in a row:  W <- Wc eta/U + W_AI
//   otherwise:                                       W <- Wc + W_AI
//
// with eta the target_utilization and W_AI = additive_increase T. Wc becomes W
// only once per round trip, by the first acknowledgement of what was sent after
// the last time, so that one congestion is not answered many times; with
// fast_react the window changes at the others too. The rate is W/T: packets are
// paced, and a new rate also moves the packet that waits for the old one. W
// stays within [min_rate T, line rate T].
//
// The ports are those of switches. The sender's own is not among them: queue
// pairs that share it would take one another for congestion.
//
// A port sends no more than its rate; where the counters say so, they are those
// of two ports, as with packets that take different paths, and count as full.
// The same where time stands still: the port is left out. Where there are more
// or fewer ports than before, the path changed, and the acknowledgement is only
// remembered.
//
// Header: 8 B for each port and 2 B. Every packet has room for five ports,
// which are the most in a fabric of three tiers, so it is 42 B as in the paper
// and in SimAI. Ports beyond the fifth are not told. Defaults: eta and
// max_stages are the paper's; W_AI is 50 Mbps times T as in its evaluation, for
// 100 senders at 100 Gbps.
//
// Source: Y. Li et al., "HPCC: high precision congestion control", SIGCOMM
// 2019, algorithm 1.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/congestion/congestion_options.h"

namespace astra {

class Hpcc final : public CongestionControl {
 public:
  // Requires target_utilization > 0.
  explicit Hpcc(const HpccOptions& options);

  Telemetry telemetry() const override { return Telemetry::kPerHop; }
  int64_t header_bytes(uint32_t num_hops) const override;
  bool paces_anew() const override { return true; }
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;

  // The two halves of OnAck, for a control that learns U in another way.

  // U after this acknowledgement, which is remembered for the next; nothing
  // where there is none to compare it with.
  std::optional<double> Measure(QueuePairId qp, const Acknowledgement& ack);

  // Sets the window for a path with this U. The first acknowledgement of a
  // queue pair only begins its first round trip.
  void React(QueuePairId qp, const Acknowledgement& ack, double utilization,
             SendingLimits* limits);

 private:
  struct State {
    double reference_window = 0;  // Wc, in bytes.
    double max_window = 0;
    double utilization = 1;     // U
    TimePs rtt;                 // T
    uint64_t update_after = 0;  // What Wc waits for to be acknowledged.
    uint32_t packet_bytes = 0;
    uint32_t stage = 0;
    uint32_t first_hop = 0;  // Of hops_.
    uint32_t num_hops = 0;   // 0: nothing is remembered.
    uint32_t hops_room = 0;
  };
  static_assert(sizeof(State) == 64);

  void Remember(absl::Span<const HopTelemetry> hops, State& state);

  HpccOptions options_;
  std::vector<State> states_;       // By queue pair.
  std::vector<HopTelemetry> hops_;  // As last acknowledged.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_H_
