// No congestion control: senders send at the rate of their port, whatever the
// network reports. They are limited only by the window that the NIC sets for
// the path, by the pauses of PFC, and by loss.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_NONE_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_NONE_H_

#include <string_view>

#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

struct NoOptions {};

class NoCongestionControl final : public CongestionControl {
 public:
  using Options = NoOptions;
  static constexpr std::string_view kName = "none";
  static constexpr std::string_view kDescription =
      "line rate, limited by the window of the NIC only";
  static std::string_view WhyWrong(const Options& /*options*/) { return {}; }

  explicit NoCongestionControl(const Options& /*options*/ = {}) {}
  bool IsAtRest(QueuePairId /*qp*/) const override { return true; }
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_NONE_H_
