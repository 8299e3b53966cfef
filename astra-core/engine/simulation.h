// Runs one iteration on a cluster.
//
// Each rank goes through the operations of its stage of a program; see
// pipeline_program.h. Collectives of one group run one after the other, in the
// order of the program. Collectives of different dimensions overlap, and both
// overlap with computation unless the program waits. The time of a collective
// is either a closed form or the time of its messages on a network backend.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_H_
#define ASTRA_CORE_ENGINE_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "astra-core/engine/simulation_setting.h"
#include "topology/routes.h"
#include "workload/program.h"

namespace astra {

// Runs `program` on the topology of `routes`, over networks of that topology.
// Each stage runs its own modules in the order of the pipeline schedule and
// exchanges messages with other stages. The result describes the rank that
// finishes last, the lowest of several; `pipeline` says how long it waited for
// messages of other stages. With schedule "simai" the pipeline is a formula;
// see pipeline.h.
//
// An iteration of many micro-batches is run with few of them. If the
// repetitions of the schedule's steady part are alike on all ranks, the
// repetitions left out would be alike too and are only counted. Otherwise more
// are run. All are run up to `stop_at` if the iteration does not end before.
//
// Errors: InvalidArgument if the program is for another number of GPUs, or an
// option has no effect with the lowering; FailedPrecondition if ranks cannot
// reach one another; Unimplemented if the family lacks a collective;
// ResourceExhausted if a flow graph is too large; Aborted at `stop_at`;
// Internal, naming the ranks that wait and their calls, if the network falls
// silent; any error of on_progress.
//
// If the run is aborted, also by on_progress, or the network falls silent,
// `partial` (if given) holds the results until then: the time that has passed,
// as stage_time and as the finish of unfinished ranks; the collectives that
// have ended; only the stage that was being run, without skipped repetitions.
// It has no pipeline, and no bytes of links in closed form.
absl::StatusOr<SimulationResult> Simulate(const Program& program,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network,
                                          SimulationResult* partial = nullptr);

// Returns simulate(options). Where that is Unavailable, since collectives were
// counted again that should not have been, it is called anew, with these
// collectives in `never_replayed`, to which the call has added them. Where it
// is Unavailable again and again, or has added none, everything is simulated.
absl::StatusOr<SimulationResult> AnewIfNeeded(
    const SimulationOptions& options,
    absl::FunctionRef<
        absl::StatusOr<SimulationResult>(const SimulationOptions&)>
        simulate);

// The half of the cluster that takes no time, to see what the other half takes.
enum class Ideal : uint8_t { kNetwork, kCompute };

// Returns the time of an iteration of `program` in closed form with each of
// `ideals` alone. Costs are found once.
//
// Errors: those of Simulate().
absl::StatusOr<std::vector<TimePs>> IdealTimes(
    const Program& program, const SimulationOptions& options,
    absl::Span<const Ideal> ideals, Routes& routes,
    const NetworkFactory& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_H_
