// DCTCP, applied to the rate of an RDMA sender: it cuts the rate in proportion
// to the share of marked bytes, at most once per round trip. It starts at line
// rate.
//
//   each round trip:                alpha <- (1 - g) alpha + g F
//       with F the share of the bytes acknowledged in it that were marked, and
//       alpha 1 at first
//   the first mark, and no other for a round trip:
//                                   rate <- rate (1 - alpha/2)
//   each round trip without a cut:  rate += additive_increase
//
// A round trip ends with the first acknowledgement of a packet that was sent
// after the last round trip ended. The rate stays within [min_rate, line rate].
// The window is what this rate sends in the round trip of an idle network
// (PathProperties::network_rtt): DCTCP is a protocol of windows, and its queue
// must not depend on how exactly NICs pace. A loss halves the rate, as it
// halves the window of the paper's TCP, at most once per round trip.
//
// Defaults: g is the paper's; additive_increase is SimAI's DCTCP_RATE_AI. The
// paper adds a packet per round trip, which is 1 Gbps for packets of 1 KB and
// round trips of 8 us.
//
// Sources: M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section
// 3. RFC 8257 counts bytes rather than packets. Congestion mode 8 of the ns-3
// simulator of HPCC and SimAI controls a rate.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_DCTCP_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_DCTCP_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

struct DctcpOptions {
  double gain = 1.0 / 16;
  Bandwidth additive_increase = Mbps(1000);  // Increase per round trip.
  Bandwidth min_rate = Mbps(100);
};

template <class Visitor>
void Visit(DctcpOptions& o, Visitor& v) {
  v.Number("gain", o.gain, 0, 1);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("min_rate", o.min_rate);
}

class Dctcp final : public CongestionControl {
 public:
  using Options = DctcpOptions;
  static constexpr std::string_view kName = "dctcp";
  static constexpr std::string_view kDescription =
      "rate cut by the share of ECN marks, once per round trip";
  static std::string_view WhyWrong(const Options& options);

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
    double rate = 0;  // Sending rate in bit/s, as line_rate is.
    double line_rate = 0;
    double alpha = 1;
    TimePs rtt;
    int64_t acked_bytes = 0;   // Bytes acknowledged in this round trip.
    int64_t marked_bytes = 0;  // Bytes of acked_bytes that were marked.
    uint64_t round_end = 0;    // Acknowledged byte that ends the round trip.
    uint64_t cut_end = 0;      // Acknowledged byte before which it won't cut.
    uint32_t packet_bytes = 0;
  };
  static_assert(sizeof(State) == 72);

  void Cut(double factor, uint64_t end, State& state) const;
  static void SetLimits(const State& state, SendingLimits* limits);

  DctcpOptions options_;
  std::vector<State> states_;  // State of each queue pair.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_DCTCP_H_
