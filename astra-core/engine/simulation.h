// Runs one iteration on a cluster.
//
// Each rank goes through the operations of its stage of a program; see
// pipeline_program.h. Collectives of one group run one after the other, in the order of the
// program; those of different dimensions overlap, and both overlap with
// computation unless the program waits. What a collective costs is either a
// closed form or what its messages take on a network backend.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_H_
#define ASTRA_CORE_ENGINE_SIMULATION_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/message_costs.h"
#include "astra-core/engine/result.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/nccl/nccl_options.h"
#include "network-frontends/network_backend.h"
#include "topology/routes.h"
#include "workload/program.h"

namespace astra {

// How collectives turn into time.
enum class Lowering : uint8_t {
  kClosedForm,  // A collective is one delay; one rank of each class is run.
  kFlowGraph,   // A collective is messages on the network; every rank is run.
};

struct SimulationOptions {
  Lowering lowering = Lowering::kClosedForm;

  // By dimension, 0 to 1: the share of each collective that costs its ranks
  // nothing. Closed forms only.
  std::array<double, kNumParallelDimensions> overlap{};

  // Closed forms only.
  BusBandwidths bus_bandwidths;

  // The system, and how NCCL is set: collectives are those that it would
  // choose, and take the time that they take there. None: rings and direct
  // messages on the links, without anything that software adds. Of flow graphs,
  // kNccl needs it, and the others do not use it.
  std::optional<NcclSystem> nccl;

  // What the collectives cost, from the result of a run with the same program,
  // topology, bus bandwidths and system. None: they are found.
  std::shared_ptr<const CollectiveCosts> costs;

  // Flow graphs of programs only: of ranks that do the same one is run. A
  // collective takes what its messages take on a network of their own, with
  // those of all groups that do the same, but not with other collectives; see
  // symmetric_times.h.
  bool symmetric = false;

  // Flow graphs only: which algorithms make them.
  CollectiveFamily collectives = CollectiveFamily::kDefault;

  // kSimai only: NCCL_ALGO, which asks for NVLS; the rest has no effect.
  NcclOptions simai;

  // Flow graphs only: of every message, beside what the family adds.
  MessageCosts message_costs;

  // Called with each collective when its last rank has its result, in that
  // order. What results say of skipped repetitions and the reported rank is not
  // known then. Where a stage of a program is run several times, see
  // Simulate(), so is this.
  std::function<void(const CollectiveRecord&)> on_collective;

  // Called with each network before it is destroyed, for its statistics; of
  // programs, with that of each run, even if the run ends with an error.
  std::function<void(NetworkBackend&)> on_network_end;

  // The run ends with an error once it would go beyond.
  TimePs stop_at = kMaxCollectiveTime;

  // Runs every micro-batch of a program, for comparison: the result is the
  // same.
  bool unroll = false;

  // Of programs: the share of its speed, 0 or more and below 1, that
  // computation loses while a collective runs beside it. None: what the program
  // says of its GPU.
  std::optional<double> communication_slowdown;

  // Computations take longer by a random share, exponentially distributed with
  // this mean, of `seed`, the rank and the operation. Every rank and
  // micro-batch is run then.
  double jitter = 0;
  uint64_t seed = 1;

  // Bounds: collectives and messages, or computations, take no time. Closed
  // forms only.
  bool ideal_network = false;
  bool ideal_compute = false;

  // Keeps what each rank did and when, unless the ranks that are run have more
  // operations than this: each takes about 100 B.
  bool record_timeline = false;
  int64_t max_timeline_ops = std::numeric_limits<int64_t>::max();

  // Called at the start of each run, and then many times a second, with the
  // share of the work that is done, 0 to 1, and the simulated time. An error
  // that it returns ends the run and is that of Simulate().
  std::function<absl::Status(double, TimePs)> on_progress;
};

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
// Of many micro-batches, few are run. If repetitions of the schedule's steady
// part went alike on all ranks, so would those that follow, and they are
// counted; else more are run.
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
