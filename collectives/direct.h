// Collectives in which each rank sends straight to the ranks that need its
// data, all at once.
//
//   all-to-all   rank i sends the j-th of n parts of its buffer to rank j
//   send-recv    rank 0 sends its buffer to rank 1
//
// Source: NCCL's point-to-point collectives, ncclSend and ncclRecv in one
// group; as there, rank i begins with rank i + 1, so that not all begin with
// one.

#ifndef COLLECTIVES_DIRECT_H_
#define COLLECTIVES_DIRECT_H_

#include "absl/status/statusor.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

// Returns the messages of an all-to-all or send-recv; none waits for another.
// Chunk i n + j is the one that rank i sends to rank j. Sizes of parts differ
// by at most one byte.
//
// Errors: ResourceExhausted if they exceed FlowGraph::kMaxFlows: they grow with
// the square of n.
absl::StatusOr<FlowGraph> LowerDirect(const CollectiveRequest& request);

// The same as one step.
StepSchedule DirectSteps(CollectiveKind kind, const GroupShape& shape);

}  // namespace astra

#endif  // COLLECTIVES_DIRECT_H_
