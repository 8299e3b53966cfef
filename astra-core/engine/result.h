// What a simulation found out. All times are from the start of the iteration.

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
#include "workload/phase.h"

namespace astra {

// One phase of one layer, or of all occurrences of one module, as the reported
// rank saw it. A recomputation counts with the forward phase.
struct PhaseResult {
  TimePs compute;
  TimePs exposed;        // Waiting for its collectives.
  TimePs late;           // Of `exposed`, until the last member had joined.
  TimePs network;        // Their time on the network, exposed or not.
  Bytes bytes;           // Of their buffers, for each time they ran.
  double bus_bytes = 0;  // The same, times its factor of bus bandwidth.
};

// One collective of one communicator.
struct CollectiveRecord {
  LayerId layer;  // Or that of the module.
  Phase phase = Phase::kForward;
  Communication communication{};
  std::string_view algorithm;
  std::string_view protocol = "-";  // Of NCCL.
  uint32_t communicator = 0;        // Of the engine; see communicators.h.
  bool is_of_reported_rank = false;
  RankId lowest_rank;             // Of the group.
  uint32_t num_ranks = 0;         // In the group.
  uint32_t num_groups = 0;        // Groups that do the same at the same time.
  int64_t count = 1;              // How often it runs, alike.
  TimePs first_start;             // When the first rank joined.
  TimePs start;                   // When the last rank had joined.
  TimePs time;                    // Until the last rank had its result.
  TimePs lowest_rank_time;        // From its joining until its result.
  bool is_measured = false;       // The user's bus bandwidth decides the time.
  bool is_latency_bound = false;  // The latency is most of the time.
  LinkId bottleneck;
};

// What pipeline parallelism adds; see pipeline.h.
struct PipelineResult {
  int64_t num_messages = 0;   // That a stage exchanges with a neighbour.
  bool is_simulated = false;  // Else a formula; see pipeline.h.
  CollectiveRecord message;   // One of them, between the slowest pair of ranks.
  TimePs exposed;             // All messages, less what is hidden.
  TimePs bubble;
};

// How long a rank waited for the collectives of one sort.
struct Exposure {
  LayerId layer;  // Or the module.
  Phase phase = Phase::kForward;
  ParallelDimension dimension{};
  CollectiveKind kind{};
  TimePs exposed;
  TimePs late;  // Of `exposed`, until the last member had joined.
};

// What one rank did, or all ranks of one class.
struct RankResult {
  RankId rank;         // The lowest of its class.
  uint32_t stage = 0;  // Of the pipeline.
  uint32_t count = 1;  // Ranks in the class.
  TimePs compute;
  TimePs slowed;   // What collectives beside the computation cost it.
  TimePs exposed;  // Waiting for collectives, of all dimensions.
  TimePs finish;   // compute + slowed + exposed.
  std::vector<std::array<PhaseResult, kNumPhases>> layers;
  // By dimension; that of the pipeline is waiting for messages of other stages.
  std::array<TimePs, kNumParallelDimensions> exposed_in{};
  // Of `exposed_in`, until the last member had joined; of the pipeline, until
  // the message was sent: the bubble.
  std::array<TimePs, kNumParallelDimensions> late_in{};
  // What `exposed` consists of, by layer, phase, dimension and kind.
  std::vector<Exposure> exposures;
};

// What collectives cost; communicators.h says what a cost is.
struct CollectiveCost;
using CostKey = std::pair<ParallelDimension, CollectiveKind>;
using CollectiveCosts = std::map<CostKey, CollectiveCost>;

struct SimulationResult {
  // The rank that finishes last, the lowest of equals: the layers are its.
  RankId reported_rank;
  std::vector<std::string> layer_names;  // Of layers or modules.
  std::vector<std::array<PhaseResult, kNumPhases>> layers;
  // Waiting of that rank, by dimension; the pipeline's is in `pipeline`.
  std::array<TimePs, kNumParallelDimensions> exposed{};
  // Of `exposed`, until the last member of the group had joined.
  std::array<TimePs, kNumParallelDimensions> late{};
  TimePs compute;
  TimePs slowed;      // What collectives beside the computation cost it.
  TimePs stage_time;  // compute + slowed + all of exposed.
  PipelineResult pipeline;

  std::vector<CollectiveRecord> collectives;  // By start, group, issue.
  std::vector<double> link_bytes;             // By link of the topology.
  // The costs of the run's collectives. Another run of the same program takes
  // them over through SimulationOptions::costs.
  std::shared_ptr<const CollectiveCosts> costs;

  std::vector<RankResult> ranks;  // By rank.
  Timeline timeline;              // Empty unless it was asked for.
  uint32_t num_rank_classes = 0;
  int64_t num_events = 0;

  TimePs total() const {
    return stage_time + pipeline.bubble + pipeline.exposed;
  }
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_RESULT_H_
