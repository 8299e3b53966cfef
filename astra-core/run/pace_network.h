// Networks on which the messages of a collective are paced; see message_pace.h.

#ifndef ASTRA_CORE_RUN_PACE_NETWORK_H_
#define ASTRA_CORE_RUN_PACE_NETWORK_H_

#include "astra-core/engine/message_pace.h"
#include "astra-core/run/fidelity.h"
#include "network-frontends/registry/registry.h"
#include "topology/routes.h"

namespace astra {

// Returns what a run with `fidelity`, which is not the closed form, paces its
// collectives on. Flows and packets take a network of flows where there is one
// path, since flows share ports as packets do. Where there are several, a hash
// would choose, so every message is by itself.
//
// `routes` must outlive the result.
PaceNetwork PaceNetworkOf(Fidelity fidelity, NetworkOptions network,
                          Routes& routes);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_PACE_NETWORK_H_
