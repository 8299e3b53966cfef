// Makes the networks on which collectives are paced; see message_pace.h.

#ifndef ASTRA_CORE_RUN_PACE_NETWORK_H_
#define ASTRA_CORE_RUN_PACE_NETWORK_H_

#include "astra-core/engine/message_pace.h"
#include "astra-core/run/fidelity.h"
#include "network-frontends/registry/registry.h"
#include "topology/routes.h"

namespace astra {

// Returns the factory of networks that pace the collectives of a run with
// `fidelity`, which is not the closed form. Flow and packet runs pace a
// collective with one path on the flow network, where flows share ports as
// packets do. With several paths, a hash would choose among them; those
// collectives, and all of analytical runs, use the analytical network.
//
// `routes` must outlive the result.
PaceNetwork PaceNetworkOf(Fidelity fidelity, NetworkOptions network,
                          Routes& routes);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_PACE_NETWORK_H_
