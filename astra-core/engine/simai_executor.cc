#include "astra-core/engine/simai_executor.h"

#include <cstdint>
#include <limits>

namespace astra {
namespace {

constexpr TimePs kMemoryBus = Nanoseconds(10);
constexpr TimePs kReadAndWrite = Nanoseconds(30);

uint64_t CycleOf(ParallelDimension dimension, uint32_t num_ranks,
                 const Topology& topology) {
  if (dimension != ParallelDimension::kData) return num_ranks;
  uint64_t num_nodes = topology.num_gpus();
  for (uint32_t i = 0; i < topology.num_nodes(); ++i) {
    if (topology.kind(NodeId(i)) == NodeKind::kNvSwitch) ++num_nodes;
  }
  return num_ranks * num_nodes / topology.num_gpus();
}

}  // namespace

MessageCosts SimaiExecutorCosts(std::string_view algorithm, CollectiveKind kind,
                                ParallelDimension dimension,
                                const GroupLayout& layout,
                                const Topology& topology, MessageCosts of_all) {
  of_all.per_message += kMemoryBus;
  if (algorithm != "simai_ring") return of_all;
  const uint32_t num_rings = layout.min_ranks_per_server();
  const uint64_t flows_per_step = uint64_t{num_rings} * layout.num_ranks();
  const bool has_odd_rings =
      kind == CollectiveKind::kAllReduce && num_rings % 2 == 1;
  if (kind == CollectiveKind::kReduceScatter) {
    of_all.later = {flows_per_step, std::numeric_limits<uint64_t>::max(),
                    kReadAndWrite};
  } else if (has_odd_rings) {
    const uint64_t cycle = CycleOf(dimension, layout.num_ranks(), topology);
    of_all.later = {flows_per_step, cycle * flows_per_step, kReadAndWrite};
  }
  return of_all;
}

}  // namespace astra
