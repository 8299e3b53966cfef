#include "astra-core/run/run_network.h"

#include <memory>
#include <utility>

#include "network-frontends/analytical/analytical_backend.h"

namespace astra {

NetworkFactory NetworkFactoryOf(Fidelity fidelity, NetworkOptions options,
                                Routes& routes) {
  const BackendEntry* network = NetworkOf(fidelity);
  if (network == nullptr) {
    return [&routes] { return std::make_unique<AnalyticalBackend>(routes); };
  }
  return [options = std::move(options), &routes, network] {
    return network->make(options, routes);
  };
}

}  // namespace astra
