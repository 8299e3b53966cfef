// What may happen to a cable during a run.

#ifndef NETWORK_FRONTENDS_LINK_EVENT_H_
#define NETWORK_FRONTENDS_LINK_EVENT_H_

#include <optional>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"

namespace astra {

// From `time` on, all cables between nodes a and b have `rate_factor` times the
// rate of the topology; 0: they are down.
struct LinkEvent {
  TimePs time;  // From the start of the run.
  NodeId a;
  NodeId b;
  double rate_factor = 1;
  // Probability that a packet is lost on them; none: that of the topology. Only
  // the packet network has losses.
  std::optional<double> error_rate = std::nullopt;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_LINK_EVENT_H_
