// DCTCP, on the rate of an RDMA sender: cuts in proportion to the share of
// marked bytes, at most once per round trip. It starts at line rate.
//
//   each round trip:                alpha <- (1 - g) alpha + g F
//       with F the share of the bytes acknowledged in it that were marked, and
//       alpha 1 at first
//   the first mark, and no other for a round trip:
//                                   rate <- rate (1 - alpha/2)
//   each round trip without a cut:  rate += additive_increase
//
// A round trip ends with the first acknowledgement of what was sent after the
// last one ended. The rate stays within [min_rate, line rate], and the window
// is what it sends in the round trip of an idle network
// (PathProperties::network_rtt): DCTCP is a protocol of windows, and its queue
// must not depend on how exactly NICs pace. A loss halves the rate, as it does
// the window of the paper's TCP, but no more than once per round trip.
//
// Defaults: g is the paper's; additive_increase is that of SimAI's
// DCTCP_RATE_AI, where the paper adds a packet per round trip: 1 Gbps for
// packets of 1 KB and round trips of 8 us.
//
// Sources: M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section
// 3; RFC 8257 counts bytes rather than packets; congestion mode 8 of the ns-3
// simulator of HPCC and SimAI is a rate.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_DCTCP_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_DCTCP_H_

#include <cstdint>
#include <vector>

#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/congestion/congestion_options.h"

namespace astra {

class Dctcp final : public CongestionControl {
 public:
  explicit Dctcp(const DctcpOptions& options);

  bool heeds_marks() const override { return true; }
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;
  void OnLoss(QueuePairId qp, TimePs now, bool is_timeout,
              SendingLimits* limits) override;

 private:
  struct State {
    double rate = 0;  // In bits per second.
    double line_rate = 0;
    double alpha = 1;
    TimePs rtt;
    int64_t acked_bytes = 0;  // In this round trip.
    int64_t marked_bytes = 0;
    uint64_t round_end = 0;  // What is waited for to be acknowledged.
    uint64_t cut_end = 0;    // No cut up to there.
    uint32_t packet_bytes = 0;
  };
  static_assert(sizeof(State) == 72);

  void Cut(double factor, uint64_t end, State& state) const;
  static void SetLimits(const State& state, SendingLimits* limits);

  DctcpOptions options_;
  std::vector<State> states_;  // By queue pair.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_DCTCP_H_
