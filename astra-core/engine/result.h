// The results of a simulation. All instants are counted from the start of the
// iteration.

#ifndef ASTRA_CORE_ENGINE_RESULT_H_
#define ASTRA_CORE_ENGINE_RESULT_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/timeline.h"
#include "collectives/time_source.h"
#include "workload/phase.h"

namespace astra {

// One phase of one layer, or of all occurrences of one module, as the reported
// rank saw it. A recomputation counts with the forward phase.
struct PhaseResult {
  TimePs compute;
  TimePs exposed;  // Waiting for the phase's collectives.
  TimePs late;     // Part of `exposed` before the last member joined.
  TimePs network;  // Time of its collectives on the network, exposed or not.
  Bytes bytes;     // Buffer sizes of all runs of its collectives.
  double bus_bytes = 0;  // Sum of buffer bytes times factor of bus bandwidth.
};

// One collective of one communicator.
struct CollectiveRecord {
  LayerId layer;  // Layer or module that calls it.
  Phase phase = Phase::kForward;
  Communication communication{};
  std::string_view algorithm;
  std::string_view protocol = "-";  // NCCL's protocol, if any.
  uint32_t communicator = 0;        // Index; see communicators.h.
  bool is_of_reported_rank = false;
  RankId lowest_rank;             // Lowest rank of the group.
  uint32_t num_ranks = 0;         // Size of the group.
  uint32_t num_groups = 0;        // Groups that do the same at the same time.
  int64_t count = 1;              // Number of equal runs.
  TimePs first_start;             // When the first rank joined.
  TimePs start;                   // When the last rank had joined.
  TimePs time;                    // From `start` until the last result.
  TimePs lowest_rank_time;        // From joining to result, for lowest_rank.
  bool is_measured = false;       // The user's bus bandwidth decides the time.
  bool is_latency_bound = false;  // Latency is most of `time`.
  CollectiveTimeSource source = CollectiveTimeSource::kModel;
  LinkId bottleneck;
};

// The time that pipeline parallelism adds; see pipeline.h.
struct PipelineResult {
  int64_t num_messages = 0;   // Messages of a stage with one neighbour.
  bool is_simulated = false;  // False: from the formula of pipeline.h.
  CollectiveRecord message;   // A message of the slowest pair of ranks.
  TimePs exposed;             // Time of all messages that is not hidden.
  TimePs bubble;
};

// How long a rank waited for its collectives of one kind in one phase of a
// layer.
struct Exposure {
  LayerId layer;  // Layer or module.
  Phase phase = Phase::kForward;
  ParallelDimension dimension{};
  CollectiveKind kind{};
  TimePs exposed;
  TimePs late;  // Part of `exposed` before the last member joined.
};

// The times of one rank, or of each rank of one class.
struct RankResult {
  RankId rank;         // Lowest rank of the class.
  uint32_t stage = 0;  // Pipeline stage.
  uint32_t count = 1;  // Number of ranks in the class.
  TimePs compute;
  TimePs slowed;   // Computing time added by collectives beside it.
  TimePs exposed;  // Waiting for collectives, over all dimensions.
  // What other ranks that were run waited, in all, until this one joined: those
  // of the collectives that it was the last to join.
  TimePs kept_waiting;
  TimePs held;    // Waiting for the CPU or for copies; of traces only.
  TimePs finish;  // compute + slowed + exposed + held.
  std::vector<std::array<PhaseResult, kNumPhases>> layers;
  // Waiting by dimension. kPipeline is waiting for messages of other stages.
  std::array<TimePs, kNumParallelDimensions> exposed_in{};
  // The part of `exposed_in` until the last member had joined. For kPipeline,
  // the part until the message was sent: the bubble.
  std::array<TimePs, kNumParallelDimensions> late_in{};
  // The parts of `exposed`, by layer, phase, dimension and kind.
  std::vector<Exposure> exposures;
};

// Costs of collectives; communicators.h defines CollectiveCost.
struct CollectiveCost;
using CostKey = std::pair<ParallelDimension, CollectiveKind>;
using CollectiveCosts = std::map<CostKey, CollectiveCost>;

struct SimulationResult {
  // The rank that finishes last; the lowest of several. `layers`, `exposed`,
  // `late`, `compute`, `slowed` and `held` are those of this rank.
  RankId reported_rank;
  std::vector<std::string> layer_names;  // Names of layers or modules.
  std::vector<std::array<PhaseResult, kNumPhases>> layers;
  // Waiting of the reported rank by dimension; for kPipeline see `pipeline`.
  std::array<TimePs, kNumParallelDimensions> exposed{};
  // The part of `exposed` until the last member of the group had joined.
  std::array<TimePs, kNumParallelDimensions> late{};
  TimePs compute;
  // Computing time added by collectives beside it, or by slow GPUs.
  TimePs slowed;
  TimePs held;        // Waiting for the CPU or for copies; of traces only.
  TimePs stage_time;  // compute + slowed + held + all of exposed.
  PipelineResult pipeline;

  std::vector<CollectiveRecord> collectives;  // Ordered by start, group, issue.
  std::vector<double> link_bytes;             // By link of the topology.
  // The costs of the run's collectives. Another run of the same program takes
  // them over through SimulationOptions::costs.
  std::shared_ptr<const CollectiveCosts> costs;

  bool has_slow_gpus = false;     // Speeds of ranks changed during the run.
  std::vector<RankResult> ranks;  // By class, in order of the lowest rank.
  Timeline timeline;              // Empty unless it was asked for.
  uint32_t num_rank_classes = 0;
  int64_t num_events = 0;

  TimePs total() const {
    return stage_time + pipeline.bubble + pipeline.exposed;
  }
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RESULT_H_
