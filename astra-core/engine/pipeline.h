// What pipeline parallelism adds to the time of one stage, as a formula.
//
// With p stages, m micro-batches and v model chunks per stage, the schedule
// 1F1B, interleaved for v > 1, leaves the slowest stage idle while its first
// micro-batch comes to it and its last one goes on from it:
//
//   bubble     the time of one micro-batch in each other stage, by v
//   messages   2 m v, forward and backward, of which a share is hidden
//
// A workload file describes one stage, and all stages are taken to be alike.
// Working on its micro-batches for T, the bubble is (p - 1) T / (m v).
//
// Source: D. Narayanan et al., "Efficient Large-Scale Language Model Training
// on GPU Clusters Using Megatron-LM", SC 2021, section 2.2.

#ifndef ASTRA_CORE_ENGINE_PIPELINE_H_
#define ASTRA_CORE_ENGINE_PIPELINE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/result.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"

namespace astra {

struct PipelineMessages {
  Bytes bytes;  // Of each.
  int64_t micro_batches = 1;
  int64_t virtual_stages = 1;
};

// `overlap`, 0 to 1, is the share of the messages that is hidden. With `nccl`,
// messages take as long as its sends and receives. Adds what the messages put
// on links to `link_bytes`. Nothing but zeros for one stage.
//
// Errors: those of LayOnLinks and CollectiveTimes; ResourceExhausted if the
// messages take too long.
absl::StatusOr<PipelineResult> AddPipeline(
    const PipelineMessages& messages, const ParallelPlan& plan, TimePs bubble,
    double overlap, const std::optional<NcclSystem>& nccl,
    std::optional<double> measured_gb_per_s, Routes& routes,
    std::vector<double>& link_bytes);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_PIPELINE_H_
