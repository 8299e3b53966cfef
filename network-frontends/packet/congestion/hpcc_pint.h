// HPCC-PINT: HPCC whose packets carry one small number rather than a record of
// every port on the way.
//
// Switches average the utilisation of their ports themselves (see
// Telemetry::kUtilization) and write the largest of the way into the packet, as
// the power c of a base b: code c stands for b^c/100. A value between two codes
// becomes the upper or the lower one at random, so that the mean is right; how
// random falls is a hash of the queue pair and of what was acknowledged, and
// the same in every run. Only a share of the packets, chosen by the same hash,
// carries the number at all; the others change nothing. See hpcc.h for what the
// sender makes of it.
//
// Here the largest average is coded once, where each switch would code its own.
// Whole codes reach up to b^c/100 = 100; the header has the bytes that so many
// codes need, 1 B at the paper's resolution.
//
// Source: R. Ben Basat et al., "PINT: probabilistic in-band network telemetry",
// SIGCOMM 2020, sections 4.3 and 6.1; base and range are those of the ns-3
// simulator of HPCC, which has it too.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_PINT_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_HPCC_PINT_H_

#include <cstdint>
#include <vector>

#include "network-frontends/packet/congestion/congestion_control.h"
#include "network-frontends/packet/congestion/congestion_options.h"
#include "network-frontends/packet/congestion/hpcc.h"

namespace astra {

// The utilisations that can be written into a packet.
class PintCode {
 public:
  // Requires base > 1. A base below 1.0002 is taken for that: two bytes.
  explicit PintCode(double base);

  // What a receiver reads where `utilization` was written, rounded up with
  // the probability that makes the mean right, if `draw`, from [0, 1), is
  // below it. What is too small or too large becomes the nearest code.
  double Transmit(double utilization, double draw) const;

  // What a code takes in a packet.
  int64_t num_bytes() const { return values_.size() <= 256 ? 1 : 2; }

 private:
  std::vector<double> values_;  // By code, increasing.
};

class HpccPint final : public CongestionControl {
 public:
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
