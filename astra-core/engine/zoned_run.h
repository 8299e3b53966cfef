// Runs a collective on the zones of a network side by side.
//
// When a message arrives, the messages that it starts are sent by the rank that
// received it, so each zone can answer arrivals alone. That does not hold for
// graphs in which a flow waits until another one of its own source is
// delivered, as pieces of a pipeline do: the source would have to know at once
// what happens in another zone.

#ifndef ASTRA_CORE_ENGINE_ZONED_RUN_H_
#define ASTRA_CORE_ENGINE_ZONED_RUN_H_

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/flow_run.h"
#include "network-frontends/zoned_network.h"

namespace astra {

// Returns the time that RunFlowGraph() returns for the same graph on one
// network. Requires that nothing has been sent on `network`.
//
// Errors: those of ZonedNetwork::Run(). RunFlowGraph() then tells the time, or
// why the network falls silent.
absl::StatusOr<TimePs> RunInZones(const PlacedFlowGraph& placed,
                                  ZonedNetwork& network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_ZONED_RUN_H_
