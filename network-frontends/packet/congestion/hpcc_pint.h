// HPCC-PINT: HPCC whose packets carry one small number instead of a record of
// every port on the path.
//
// Switches average the utilization of their ports (see Telemetry::kUtilization)
// and write the largest value of the path into the packet, as a code c that
// stands for b^c/100. A value between two codes is rounded up or down at random
// so that the mean is right. The random number is a hash of the queue pair and
// of the acknowledged bytes, so it is the same in every run. Only a share of
// the packets, chosen by the same hash, carries the number; the others change
// nothing. hpcc.h says how the sender reacts.
//
// Here the largest average is coded once, while real switches would code each
// average. Codes reach up to b^c/100 = 100. The header has the bytes that so
// many codes need, 1 B at the paper's resolution.
//
// Source: R. Ben Basat et al., "PINT: probabilistic in-band network telemetry",
// SIGCOMM 2020, sections 4.3 and 6.1. Base and range are those of the ns-3
// simulator of HPCC, which also has PINT.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_PINT_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_PINT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/congestion/hpcc.h"

namespace astra {

struct HpccPintOptions {
  HpccOptions hpcc;
  double log_base = 1.05;       // Base of the encoding of utilization.
  double sampling_share = 1.0;  // Share of packets that carry it.
};

template <class Visitor>
void Visit(HpccPintOptions& o, Visitor& v) {
  v.Map("hpcc", o.hpcc);
  v.Number("log_base", o.log_base, 1, kMostTimes);
  v.Number("sampling_share", o.sampling_share, 0, 1);
}

// The code by which a packet carries a utilization.
class PintCode {
 public:
  // Requires base > 1. A base below 1.0002 is taken as 1.0002, which needs two
  // bytes.
  explicit PintCode(double base);

  // Returns the utilization that a receiver reads where `utilization` was
  // written. It is rounded up if `draw`, from [0, 1), is below the probability
  // that makes the mean right. A value out of range becomes the nearest code.
  double Transmit(double utilization, double draw) const;

  // Returns the bytes that a code takes in a packet.
  int64_t num_bytes() const { return values_.size() <= 256 ? 1 : 2; }

 private:
  std::vector<double> values_;  // Utilization by code, increasing.
};

class HpccPint final : public CongestionControl {
 public:
  using Options = HpccPintOptions;
  static constexpr std::string_view kName = "hpcc_pint";
  static constexpr std::string_view kDescription =
      "HPCC with one byte of telemetry per packet";
  static std::string_view WhyWrong(const Options& options);

  explicit HpccPint(const HpccPintOptions& options);

  Telemetry telemetry() const override { return Telemetry::kUtilization; }
  int64_t header_bytes(uint32_t num_hops) const override;
  bool paces_anew() const override { return true; }
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;

 private:
  double sampling_share_;
  PintCode code_;
  Hpcc hpcc_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_PINT_H_
