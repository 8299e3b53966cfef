// Explains the time of an iteration of a program: its critical path, its bounds
// on an ideal cluster, and the memory of each stage.

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
  std::vector<StageMemory> memory;  // By stage; empty if not known.
  Bytes gpu_memory;                 // Memory of a GPU; 0 if not known.
};

// Sets `options` to keep the timeline that an explanation, or with `trace` a
// trace, needs. No timeline is kept if it would take too much memory.
void KeepTimeline(const Program& program, bool trace,
                  SimulationOptions& options);

// Sets `options` to keep the timeline of an execution trace, as above.
void KeepTimeline(bool trace, SimulationOptions& options);

// Explains `result`, the result of a run of `program` with `options`. Returns
// none if the pipeline of the program is a formula.
//
// Errors: those of Simulate().
absl::StatusOr<std::optional<Explanation>> Explain(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const SimulationResult& result);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_EXPLANATION_H_
