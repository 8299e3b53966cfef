// ECN marks: whether a packet that leaves a switch is marked, by the RED
// profile of its port, at dequeue.
//
// A queue of up to min bytes marks nothing, one of max bytes or more marks
// every packet, and in between the probability grows from 0 to
// max_probability. The thresholds are those of the nearest rate in the options,
// scaled to the rate of the link.
//
// Source: Y. Zhu et al., "Congestion control for large-scale RDMA deployments",
// SIGCOMM 2015, section 3.1.

#ifndef NETWORK_FRONTENDS_PACKET_ECN_MARKER_H_
#define NETWORK_FRONTENDS_PACKET_ECN_MARKER_H_

#include <cstdint>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/port.h"
#include "network-frontends/packet/ports.h"

namespace astra {

class EcnMarker {
 public:
  // Tells each port of `ports` that marks packets its longest queue without
  // marks. `setup` must outlive the marker.
  EcnMarker(const PacketSetup& setup, PortArray ports);

  // Returns whether the packet that now leaves `port` is marked. Requires a
  // queue above Port::mark_above. Draws are hashes of the link and of the
  // number of packets that it has sent.
  bool Marks(LinkId link, const Port& port) const;

 private:
  // EcnThresholds scaled to the rate of a link.
  struct Profile {
    Bytes min;
    Bytes max;
    double max_probability = 0;
  };

  static Profile ProfileOf(Bandwidth rate,
                           const std::vector<EcnThresholds>& given);

  const uint64_t seed_;
  std::vector<Profile> profiles_;
  // Profile of each link, as an index into profiles_.
  std::vector<uint32_t> profile_of_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_ECN_MARKER_H_
