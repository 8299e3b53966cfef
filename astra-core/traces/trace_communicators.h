// The groups and channels of an execution trace as communicators of the engine,
// and what their collectives cost.

#ifndef ASTRA_CORE_TRACES_TRACE_COMMUNICATORS_H_
#define ASTRA_CORE_TRACES_TRACE_COMMUNICATORS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/ids.h"
#include "astra-core/engine/collective_costs.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/result.h"
#include "astra-core/traces/trace_lanes.h"
#include "topology/routes.h"
#include "topology/topology.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Returns the pairs of ranks that have channels, senders first, and the forward
// ones before the backward ones: in each of the two directions of a pipeline
// all stages send at once.
std::vector<std::vector<RankId>> PairsOf(const TraceLanes& lanes);

// Returns the costs of the collectives and messages of `trace`. The groups of a
// family run a collective at once. Errors: those of FindCosts().
absl::StatusOr<CollectiveCosts> FindTraceCosts(const ExecutionTrace& trace,
                                               const TraceLanes& lanes,
                                               const CostSetting& setting,
                                               Routes& routes);

// Forms a communicator of each group and each channel that is used. Every rank
// is a class of its own.
Communicators FormTraceCommunicators(const ExecutionTrace& trace,
                                     const TraceLanes& lanes,
                                     const Topology& topology);

}  // namespace astra

#endif  // ASTRA_CORE_TRACES_TRACE_COMMUNICATORS_H_
