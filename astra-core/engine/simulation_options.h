// How one iteration is simulated: what collectives and messages cost, which
// ranks and micro-batches are run, when the run ends, and what it reports while
// it goes on.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_OPTIONS_H_
#define ASTRA_CORE_ENGINE_SIMULATION_OPTIONS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/message_costs.h"
#include "astra-core/engine/result.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/closed_form.h"
#include "collectives/nccl/nccl_options.h"
#include "network-frontends/network_backend.h"

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

  // The costs of the collectives, which a run finds unless they are given here.
  // They must be from the result of a run with the same program, topology, bus
  // bandwidths and system.
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

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_OPTIONS_H_
