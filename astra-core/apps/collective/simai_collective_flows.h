// Writes the messages of a collective to a file.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_FLOWS_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_FLOWS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "collectives/flow_graph.h"
#include "collectives/group_layout.h"

namespace astra {

// Writes a line for each flow of `graph`, by increasing id:
//
//   id,source,target,bytes,channel,chunk,depends_on
//   9,1,nvswitch:0.2,4096,2,17,3 5
//
// A GPU is named by its rank in `ranks`, which lists the group in order.
// nvswitch:S.K is NVSwitch K of the group's server S, and reducer:K is a switch
// of the fabric. chunk is the first chunk of the flow. depends_on lists the ids
// of the flows that it waits for, all lower than its own. The lines are written
// as they are made, so memory does not grow with them.
//
// Errors: PermissionDenied "PATH: reason"; `path` is then unchanged.
absl::Status WriteFlows(const std::string& path, const FlowGraph& graph,
                        const GroupLayout& layout,
                        absl::Span<const RankId> ranks);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_FLOWS_H_
