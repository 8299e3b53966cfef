// Collectives decomposed as SimAI does it, for comparison with its results.
//
//   simai_ring    All-reduce, all-gather and reduce-scatter on rings, one for
//                 each rank of a server, on a single server too. Ring c goes
//                 through every server in the same order, from local rank c up
//                 to c - 1; so it leaves a server on one rail and enters the
//                 next on the rail after it. There is one message for each
//                 step, rank and ring.
//   simai_direct  All-to-all: every rank sends to all others at once, in the
//                 order of their ranks, so that all begin with rank 0.
//   simai_nvls    All-reduce on one server, in 4 chunks: every rank sends a
//                 chunk to the NVSwitch, which sends the sum to every rank. A
//                 rank sends a chunk when the one before has been delivered.
//
//                             steps of a chunk   bytes sent per rank
//   simai_ring, all-reduce    2 (n - 1)          2 S (n - 1)/n
//   simai_ring, other kinds   n - 1              S (n - 1)/n
//   simai_nvls                2                  S
//   simai_direct              1                  S (n - 1)/n
//
// Unlike in SimAI, bytes that do not divide evenly are not lost. The request's
// chunking has no effect.
//
// Source: SimAI v1.6, astra-sim/system/MockNcclGroup.cc: genringchannels,
// genAllReduceRingFlowModels, genAllreduceNVLSFlowModels,
// genAllToAllFlowModels.

#ifndef COLLECTIVES_ALGORITHMS_SIMAI_H_
#define COLLECTIVES_ALGORITHMS_SIMAI_H_

#include <memory>

#include "absl/status/statusor.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/step_schedule.h"

namespace astra {

// Returns the messages of simai_ring. Flows and chunks are numbered as in
// LowerRing.
//
// Errors: FailedPrecondition if servers have different numbers of the group's
// ranks; ResourceExhausted if there are more flows than FlowGraph::kMaxFlows.
absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerSimaiRing(
    const CollectiveRequest& request);
absl::StatusOr<StepSchedule> SimaiRingSteps(const CollectiveRequest& request);

// Returns the messages of simai_direct. Errors: ResourceExhausted if there are
// more flows than FlowGraph::kMaxStoredFlows.
absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerSimaiDirect(
    const CollectiveRequest& request);

// Returns the messages of simai_nvls. Errors: FailedPrecondition unless the
// group is on one server with an NVSwitch that all of its ranks are linked to.
absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerSimaiNvls(
    const CollectiveRequest& request);
absl::StatusOr<StepSchedule> SimaiNvlsSteps(const CollectiveRequest& request);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_SIMAI_H_
