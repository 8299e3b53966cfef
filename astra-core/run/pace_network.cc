#include "astra-core/run/pace_network.h"

#include <memory>
#include <utility>

namespace astra {

PaceNetwork PaceNetworkOf(Fidelity fidelity, NetworkOptions network,
                          Routes& routes) {
  network.packet.record = {};
  // What happens during the run is no part of how fast a collective can be.
  network.packet.link_events.clear();
  network.packet.background.clear();
  network.flow = FlowOptionsOf(network.packet);
  const BackendEntry* alone = NetworkOf(Fidelity::kAnalytical);
  const BackendEntry* sharing =
      NetworkOf(fidelity == Fidelity::kAnalytical ? Fidelity::kAnalytical
                                                  : Fidelity::kFlow);
  return {.make =
              [network = std::move(network), alone, sharing,
               &routes](bool has_one_path) {
                return (has_one_path ? sharing : alone)->make(network, routes);
              },
          .run_shares_more = sharing != alone};
}

}  // namespace astra
