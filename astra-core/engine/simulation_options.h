// Options of the simulation of one iteration: the costs of collectives and
// messages, the ranks and micro-batches that are run, when the run ends, and
// what it reports meanwhile.

#ifndef ASTRA_CORE_ENGINE_SIMULATION_OPTIONS_H_
#define ASTRA_CORE_ENGINE_SIMULATION_OPTIONS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/collective_family.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/custom_collectives.h"
#include "astra-core/engine/message_costs.h"
#include "astra-core/engine/message_log.h"
#include "astra-core/engine/message_pace.h"
#include "astra-core/engine/result.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/closed_form.h"
#include "collectives/nccl/nccl_options.h"
#include "network-frontends/network_backend.h"
#include "workload/phase.h"

namespace astra {

// How collectives turn into time.
enum class Lowering : uint8_t {
  kClosedForm,  // A collective is one delay; one rank of each class is run.
  kFlowGraph,   // A collective is messages on the network; every rank is run.
};

// How far the simulation of messages may be spared.
enum class Acceleration : uint8_t {
  kOff,      // Every message is simulated.
  kExact,    // What goes as it did before is counted again; no result changes.
  kBounded,  // So is what goes nearly as it did before.
};

// From `time` on, `rank` computes at `speed` times its own speed. With 0 it is
// dead: it computes nothing and joins no collective any more. Messages of
// collectives that it has joined still arrive.
struct SpeedChange {
  TimePs time;
  RankId rank;
  double speed = 1;
};

// Which errors are accepted for the sake of time.
struct ErrorBound {
  // By which share of its time a collective may end too early or too late.
  double share = 0.01;
  // So many events of collectives are simulated before an error is accepted,
  // other than that of leaving out micro-batches.
  uint64_t exact_events = 0;
};

// Why a run begins anew.
struct Restart {
  std::string why;
  // What is simulated from now on, where it was counted again. Empty: all.
  absl::Span<const Communication> simulated;
};

struct SimulationOptions {
  Lowering lowering = Lowering::kClosedForm;

  // By dimension, 0 to 1: the share of each collective that is hidden and costs
  // its ranks no time. Closed forms only.
  std::array<double, kNumParallelDimensions> overlap{};

  // Measured bus bandwidths. Closed forms only.
  BusBandwidths bus_bandwidths;

  // Which algorithms carry out the collectives.
  CollectiveFamily collectives = CollectiveFamily::kRing;

  // The system and settings by which NCCL chooses. Required with kNccl, and not
  // allowed otherwise.
  std::optional<NcclSystem> nccl;

  // With kSimai only: NCCL_ALGO may ask for NVLS. Other variables have no
  // effect.
  NcclOptions simai;

  // Flow graphs without `symmetric` only: go before the family for what they
  // fit. Results name them by their schedules, which must outlive the results.
  std::shared_ptr<const std::vector<CustomCollective>> custom;

  // The costs of the collectives, which a run finds unless they are given here.
  // They must be from the result of a run with the same program, topology, bus
  // bandwidths and system.
  std::shared_ptr<const CollectiveCosts> costs;

  // Flow graphs of programs only: runs one rank of each class. A collective
  // takes the time of its messages on a network of their own, with those of all
  // groups that do the same, but without other collectives; see
  // symmetric_times.h.
  bool symmetric = false;

  // Of flow graphs: kernels of collectives start at multiples of this, later
  // rather than earlier. 0: whenever they can. Ranks that differ by less go
  // alike from there on, so that more can be counted again.
  TimePs start_step;

  // Flow graphs on networks that have ReplaySupport only; others are always
  // simulated in full, and so are runs with jitter or with a time to stop at.
  Acceleration acceleration = Acceleration::kExact;
  ErrorBound bound;  // Of kBounded.

  // Collectives that are simulated wherever they are. A run that ends with
  // Unavailable has added those that it should not have counted again. None is
  // as good as an empty list.
  std::shared_ptr<std::vector<Communication>> never_replayed;

  // Flow graphs of kNccl only: makes the networks on which messages are paced;
  // see message_pace.h. None: messages keep the costs of the NCCL model.
  PaceNetwork pace_network;

  // Flow graphs only: costs of every message, added to those of the family.
  MessageCosts message_costs;

  // Called with each collective when its last rank has its result, in that
  // order. Skipped repetitions and the reported rank are not known then.
  // Simulate() may run a stage several times; the calls are then repeated.
  std::function<void(const CollectiveRecord&)> on_collective;

  // Is told of the messages of flow graphs, on networks that record messages.
  // None with `symmetric`.
  MessageLog* message_log = nullptr;

  // Called with each network before it is destroyed, for its statistics. A
  // program has a network for each run; the call is made even if a run ends
  // with an error.
  std::function<void(NetworkBackend&)> on_network_end;

  // Simulated time beyond which the run ends with an error.
  TimePs stop_at = kMaxCollectiveTime;

  // Runs every micro-batch of a program, for comparison: the result is the
  // same.
  bool unroll = false;

  // Programs only: the share of its speed, from 0 to below 1, that a
  // computation loses while a collective runs beside it. None: the value that
  // the program has for its GPU.
  std::optional<double> communication_slowdown;

  // Computations take longer by a random share, exponentially distributed with
  // this mean, which depends on `seed`, the rank and the operation. Every rank
  // and micro-batch is run then.
  double jitter = 0;
  uint64_t seed = 1;

  // Whether ranks that have the same program may differ in what they compute.
  bool ranks_differ() const { return jitter > 0 || !speed_changes.empty(); }

  // Changes of the speed of ranks, in any order; of one rank and instant the
  // last counts. Every rank and micro-batch is run then.
  std::vector<SpeedChange> speed_changes;

  // For bounds: communication, or computations, take no time. Closed forms
  // only.
  bool ideal_network = false;
  bool ideal_compute = false;

  // Keeps the timeline of each rank, unless the ranks that are run have more
  // operations than max_timeline_ops. An operation takes about 100 B.
  bool record_timeline = false;
  int64_t max_timeline_ops = std::numeric_limits<int64_t>::max();

  // Called where collectives were counted again that should not have been, so
  // that the run begins anew. May be empty.
  std::function<void(const Restart&)> on_restart;

  // Called at the start of each run, and then many times a second. Simulate()
  // ends with the error that it returns. May be empty.
  ProgressWatch on_progress;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMULATION_OPTIONS_H_
