// The messages of a collective as a file.

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
// GPUs are those of `ranks`, the group in its order; nvswitch:S.K is NVSwitch K
// of the group's server S, reducer:K a switch of the fabric. chunk is the first
// one; depends_on lists ids, all lower than that of the line. The lines are not
// held in memory.
//
// Errors: PermissionDenied "PATH: reason"; then `path` is what it was.
absl::Status WriteFlows(const std::string& path, const FlowGraph& graph,
                        const GroupLayout& layout,
                        absl::Span<const RankId> ranks);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_FLOWS_H_
