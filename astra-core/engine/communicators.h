// The groups over which a workload communicates, and what that costs them.

#ifndef ASTRA_CORE_ENGINE_COMMUNICATORS_H_
#define ASTRA_CORE_ENGINE_COMMUNICATORS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/engine/pipeline_links.h"
#include "astra-core/engine/rank_classes.h"
#include "astra-core/engine/result.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/closed_form.h"
#include "collectives/group_layout.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"
#include "workload/phase.h"
#include "workload/program.h"

namespace astra {

// One kind of collective over all the groups of one dimension.
struct CollectiveCost {
  ClosedForms forms;         // By group; ring and direct messages.
  bool is_measured = false;  // The user's bus bandwidth decides the time.
  // As NCCL runs each size, by class of groups; none unless the system is known
  // and no bus bandwidth decides.
  std::map<Bytes, std::vector<TimedCollective>> sized;
  std::vector<uint32_t> class_of_group;  // For `sized`.
  // The same as messages, where they were asked for.
  std::map<Bytes, std::vector<NcclMessages>> messages;
  // By name of the algorithm in registry.h, by link; for `sized`.
  std::map<std::string_view, std::vector<double>> link_bytes_per_byte;

  // What a collective of `bytes` takes and is. Requires that it is used.
  TimedCollective Time(uint32_t group, CollectiveKind kind, Bytes bytes) const;

  // By link: the bytes for each byte of the buffer. `algorithm` is the
  // registry_name that Time() of the first group gives.
  absl::Span<const double> LinkBytesPerByte(std::string_view algorithm) const;
};

using CollectiveSizes = std::map<CostKey, std::set<Bytes>>;

// The sizes of the collectives that move bytes between two ranks or more,
// pipeline messages among them.
CollectiveSizes UsedCollectives(const Program& program,
                                const ParallelPlan& plan);

// The system that collectives run on, and how NCCL is set.
struct NcclSystem {
  SystemSpec system;
  NcclOptions options;
};

// What the ranks of a pipeline are joined by.
struct PipelineWiring {
  uint32_t num_stages = 1;
  uint32_t num_lanes = static_cast<uint32_t>(kNumParallelDimensions);
  std::vector<PipelineLink> links;
  PipelinePairs pairs;
};
PipelineWiring WiringOf(const Program& program, const ParallelPlan& plan);

// The costs of the used collectives; with `nccl` as it would choose and run
// them, and what its messages are if `with_messages`. The groups of what is
// sent over the pipeline are `pairs`, without which it is left out.
//
// Errors: those of LayOnLinks and CollectiveTimes.
absl::StatusOr<CollectiveCosts> FindCosts(const CollectiveSizes& used,
                                          const ParallelPlan& plan,
                                          const PipelinePairs& pairs,
                                          const BusBandwidths& measured,
                                          const std::optional<NcclSystem>& nccl,
                                          bool with_messages, Routes& routes);

using CommunicatorId = Id<struct CommunicatorTag>;

// One group, which stands for all groups of its class. Of the pipeline, the two
// ends of a link.
struct Communicator {
  ParallelDimension dimension;
  uint32_t group = 0;             // Of its costs; the lowest of the class.
  uint32_t num_groups = 1;        // Groups in the class.
  std::vector<RankId> ranks;      // Of `group`, in group order.
  std::vector<uint32_t> members;  // Classes of those ranks; each once, sorted,
                                  // but the sender before the receiver.
  std::vector<LaneId> lanes;      // By member.
  LaneId LaneOfMember(uint32_t member) const {
    const bool is_first = members.front() == member;
    // Those of a dimension are all the same; of a link there are two.
    return dimension == ParallelDimension::kPipeline && !is_first
               ? lanes.back()
               : lanes.front();
  }
  // Groups that lie alike share one object.
  std::shared_ptr<const GroupLayout> layout;
  std::vector<NodeId> nodes;  // By member of the layout.
};

struct Communicators {
  RankClasses classes;
  std::vector<Communicator> list;
  // By class and lane: the communicator of its ranks, if there is one.
  std::vector<std::vector<std::optional<CommunicatorId>>> of_class;
  uint32_t num_lanes = 0;  // Of a class.
};

// Forms the classes of ranks and groups: the coarsest possible, or each rank
// alone if `each_rank`.
Communicators FormCommunicators(const ParallelPlan& plan,
                                const PipelineWiring& pipeline,
                                const CollectiveCosts& costs, bool each_rank,
                                const Topology& topology);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COMMUNICATORS_H_
