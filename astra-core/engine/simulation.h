// Runs one iteration on a cluster.
//
// Each rank goes through the operations of its stage of a program; see
// pipeline_program.h. Collectives of one group run one after the other, in the
// order of the program; those of different dimensions overlap, and both overlap
// with computation unless the program waits. What a collective costs is either
// a closed form or what its messages take on a network backend.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_H_
#define ASTRA_CORE_ENGINE_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "workload/program.h"

namespace astra {

// What results call the layers; of a program, its modules, and behind them
// "pipeline" for the messages between stages.
std::vector<std::string> LayerNames(const Program& program);

// Returns a network at time 0.
using NetworkFactory = std::function<std::unique_ptr<NetworkBackend>()>;

// Runs `program` on the topology of `routes`, over networks of that topology,
// with its pipeline schedule: each stage its own modules, and messages between
// stages. The result is that of the rank that finishes last, the lowest of
// equals; `pipeline` says how long it waited for messages of other stages. With
// schedule "simai" the pipeline is a formula; see pipeline.h.
//
// An iteration of many micro-batches is run with few of them. If repetitions of
// the schedule's steady part went alike on all ranks, the repetitions that are
// left out would go alike too and are only counted; else more are run.
//
// Errors: InvalidArgument if the program is for another number of GPUs, or an
// option has no effect with the lowering; FailedPrecondition if ranks cannot
// reach one another; Unimplemented if the family lacks a collective;
// ResourceExhausted if a flow graph is too large; Aborted at `stop_at`;
// Internal, with who waits for what, if the network falls silent; what
// on_progress returns.
//
// If the run is aborted or the network falls silent, and `partial` is given, it
// becomes what there was until then: the time that has passed, as stage_time
// and as the finish of ranks that have not finished; of collectives, those that
// have ended; the stage that was being run, nothing of which is counted for
// repetitions that were to be skipped. It has no pipeline, and no bytes of
// links in closed form. The same holds if on_progress returns Aborted.
absl::StatusOr<SimulationResult> Simulate(const Program& program,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network,
                                          SimulationResult* partial = nullptr);

// What takes no time, to see what the rest would take.
enum class Ideal : uint8_t { kNetwork, kCompute };

// How long an iteration of `program` would take, in closed form, with each of
// `ideals` alone. Costs are found once. Errors: as above.
absl::StatusOr<std::vector<TimePs>> IdealTimes(
    const Program& program, const SimulationOptions& options,
    absl::Span<const Ideal> ideals, Routes& routes,
    const NetworkFactory& new_network);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_H_
