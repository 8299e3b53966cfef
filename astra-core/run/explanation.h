// Why the iteration of a program takes as long as it does: the chain of work
// that is as long as the iteration, what it would take on an ideal cluster, and
// the memory of each stage.

#ifndef ASTRA_CORE_RUN_EXPLANATION_H_
#define ASTRA_CORE_RUN_EXPLANATION_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/bounds.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_options.h"
#include "topology/routes.h"
#include "workload/memory_timeline.h"
#include "workload/program.h"

namespace astra {

struct Explanation {
  std::vector<PathPiece> path;  // Empty if the timeline was too long to keep.
  Bounds bounds;
  std::vector<StageMemory> memory;  // Empty if the program says no memory.
  Bytes gpu_memory;                 // 0 if it is not known.
};

// Sets `options` to keep what an explanation needs, or what a trace needs,
// unless that would take too much memory.
void KeepTimeline(const Program& program, bool trace,
                  SimulationOptions& options);

// Explains `result`, the result of a run of `program` with `options`. Returns
// none if the pipeline of the program is a formula.
//
// Errors: those of Simulate().
absl::StatusOr<std::optional<Explanation>> Explain(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_EXPLANATION_H_
