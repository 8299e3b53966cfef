#include "network-frontends/packet/congestion/none.h"

namespace astra {

void NoCongestionControl::Open(QueuePairId /*qp*/, const PathProperties& path,
                               TimePs /*now*/, SendingLimits* limits) {
  limits->rate = path.line_rate;
  limits->timer = kNoTimer;
}

void NoCongestionControl::OnAck(QueuePairId /*qp*/,
                                const Acknowledgement& /*ack*/,
                                SendingLimits* /*limits*/) {}

}  // namespace astra
