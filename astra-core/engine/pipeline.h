// The time that pipeline parallelism adds to one stage, as a formula.
//
// With p stages, m micro-batches and v model chunks per stage, the schedule
// 1F1B, interleaved for v > 1, leaves the slowest stage idle while its first
// micro-batch comes to it and its last one goes on from it:
//
//   bubble     the time of one micro-batch in each other stage, by v
//   messages   2 m v, forward and backward, of which a share is hidden
//
// A workload file describes one stage, and all stages are assumed alike. If a
// stage works T on its micro-batches, the bubble is (p - 1) T / (m v).
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
  Bytes bytes;  // Size of each message.
  int64_t micro_batches = 1;
  int64_t virtual_stages = 1;
};

// Returns the time of the messages, of which the share `overlap` (0 to 1) is
// hidden, beside the given `bubble`. With `nccl`, a message takes as long as a
// send and receive of NCCL. Adds the bytes of the messages to `link_bytes`. The
// result is all zeros if there is only one stage.
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
