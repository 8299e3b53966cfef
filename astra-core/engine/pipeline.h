// What pipeline parallelism adds to the time of one stage, as a formula.
//
// A workload file describes one stage, and all stages are taken to be alike.
// The stage works on its micro-batches for T. With p stages, m micro-batches
// and v model chunks per stage
//
//   bubble     (p - 1) T / (m v)
//   messages   2 m v, forward and backward, of which a share is hidden
//
// Source: D. Narayanan et al., "Efficient Large-Scale Language Model Training
// on GPU Clusters Using Megatron-LM", SC 2021, section 2.2.

#ifndef ASTRA_CORE_ENGINE_PIPELINE_H_
#define ASTRA_CORE_ENGINE_PIPELINE_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"
#include "workload/workload.h"

namespace astra {

// `micro_batch_time` is T above; `overlap`, 0 to 1, is the share of the
// messages that is hidden. Adds what the messages put on links to `link_bytes`.
// Nothing but zeros for one stage.
//
// Errors: those of LayOnLinks.
absl::StatusOr<PipelineResult> AddPipeline(
    const Workload& workload, const ParallelPlan& plan, TimePs micro_batch_time,
    double overlap, std::optional<double> measured_gb_per_s, Routes& routes,
    std::vector<double>& link_bytes);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_PIPELINE_H_
