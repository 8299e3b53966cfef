// The links between pipeline stages over which messages travel.

#ifndef ASTRA_CORE_ENGINE_PIPELINE_LINKS_H_
#define ASTRA_CORE_ENGINE_PIPELINE_LINKS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/rank_program.h"
#include "workload/program.h"

namespace astra {

// The messages of one kind from one chunk to the next: activations forward, or
// their gradients back. Each rank of stage `from` sends to the rank of stage
// `to` that has the same coordinates.
struct PipelineLink {
  uint32_t from = 0;  // Stage that sends.
  uint32_t to = 0;
  LaneId send_lane;
  LaneId receive_lane;
  bool is_gradient = false;
};

// Returns the bytes of each message between stages. In a simulated pipeline a
// message carries at least 1 B, since it also signals its arrival.
Bytes StageMessageBytes(const Program& program);

// Returns the links between stages; none for a single stage. Two successive
// chunks on one stage need no link.
std::vector<PipelineLink> PipelineLinks(const Program& program);

// Pairs of ranks, sender first, that `links` join. Links between the same two
// stages share their pairs, which are ordered by position in the stage.
struct PipelinePairs {
  std::vector<std::vector<RankId>> pairs;
  std::vector<uint32_t> first_pair;  // By link: index of its first pair.
};
PipelinePairs PairsOf(absl::Span<const PipelineLink> links,
                      const ParallelPlan& plan);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_PIPELINE_LINKS_H_
