// The networks of a run, and what is kept of them.

#ifndef ASTRA_CORE_RUN_RUN_NETWORK_H_
#define ASTRA_CORE_RUN_RUN_NETWORK_H_

#include "astra-core/base/units.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/run/fidelity.h"
#include "network-frontends/network_backend.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/registry/registry.h"
#include "topology/routes.h"

namespace astra {

// Returns what makes the networks of a run. The closed form sends nothing: its
// network is the clock of the engine. `routes` must outlive the result.
NetworkFactory NetworkFactoryOf(Fidelity fidelity, NetworkOptions options,
                                Routes& routes);

// Keeps the statistics of the network that was simulated longest, the last of
// several.
class LongestNetwork {
 public:
  // Both get what is known of it, and must outlive the object.
  LongestNetwork(NetworkStatistics& statistics, TimePs& time)
      : statistics_(statistics), time_(time) {}

  void See(NetworkBackend& network) {
    if (network.now() < time_) return;
    time_ = network.now();
    statistics_ = network.statistics();
  }

 private:
  NetworkStatistics& statistics_;
  TimePs& time_;
};

}  // namespace astra

#endif  // ASTRA_CORE_RUN_RUN_NETWORK_H_
