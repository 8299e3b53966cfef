// Between which stages of a pipeline messages travel.

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

// The messages of one sort from one chunk to the next: activations forward, or
// their gradients back. Each rank of `from` sends to the rank of `to` that has
// the same coordinates.
struct PipelineLink {
  uint32_t from = 0;  // Stages.
  uint32_t to = 0;
  LaneId send_lane;
  LaneId receive_lane;
  bool is_gradient = false;
};

// What each message carries. One of nothing still says that it is there: 1 B.
Bytes StageMessageBytes(const Program& program);

// None for one stage. Chunks that follow one another on one stage need none.
std::vector<PipelineLink> PipelineLinks(const Program& program);

// Pairs of ranks, sender first, that `links` join: links between the same two
// stages have the same ones. `stage_size` is the number of ranks of a stage.
struct PipelinePairs {
  std::vector<std::vector<RankId>> pairs;
  std::vector<uint32_t> first_pair;  // By link; one for each rank of a stage.
};
PipelinePairs PairsOf(absl::Span<const PipelineLink> links,
                      uint32_t stage_size);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_PIPELINE_LINKS_H_
