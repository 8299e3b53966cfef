// The groups over which a workload communicates.

#ifndef ASTRA_CORE_ENGINE_COMMUNICATORS_H_
#define ASTRA_CORE_ENGINE_COMMUNICATORS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/engine/collective_costs.h"
#include "astra-core/engine/pipeline_links.h"
#include "astra-core/engine/rank_classes.h"
#include "collectives/group_layout.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {

// What the ranks of a pipeline are joined by.
struct PipelineWiring {
  uint32_t num_stages = 1;
  uint32_t num_lanes = static_cast<uint32_t>(kNumParallelDimensions);
  std::vector<PipelineLink> links;
  PipelinePairs pairs;
};
PipelineWiring WiringOf(const Program& program, const ParallelPlan& plan);

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
  // The lanes from 0 on whose calls slow computation down; messages between
  // stages, which need few SMs, are on those behind.
  uint32_t num_slowing_lanes = kNumParallelDimensions;
};

// Forms the classes of ranks and groups: the coarsest possible, or each rank
// alone if `each_rank`.
Communicators FormCommunicators(const ParallelPlan& plan,
                                const PipelineWiring& pipeline,
                                const CollectiveCosts& costs, bool each_rank,
                                const Topology& topology);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COMMUNICATORS_H_
