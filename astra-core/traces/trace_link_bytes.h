// The bytes that the collectives and messages of an execution trace put on
// links, in closed form.

#ifndef ASTRA_CORE_TRACES_TRACE_LINK_BYTES_H_
#define ASTRA_CORE_TRACES_TRACE_LINK_BYTES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/engine/collective_costs.h"
#include "astra-core/engine/result.h"
#include "astra-core/traces/trace_lanes.h"
#include "topology/routes.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Returns the bytes by link, laid on links as `costs` says. Errors: those of
// LayVolumes().
absl::StatusOr<std::vector<double>> TraceLinkBytes(
    const ExecutionTrace& trace, const TraceLanes& lanes,
    const CollectiveCosts& costs, const std::optional<NcclSystem>& nccl,
    Routes& routes);

}  // namespace astra

#endif  // ASTRA_CORE_TRACES_TRACE_LINK_BYTES_H_
