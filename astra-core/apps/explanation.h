// Why the iteration of a program takes as long as it does, for all programs
// that run one: lines of the summary, files, numbers of run.json.

#ifndef ASTRA_CORE_APPS_EXPLANATION_H_
#define ASTRA_CORE_APPS_EXPLANATION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/base/files.h"
#include "astra-core/engine/bounds.h"
#include "astra-core/engine/critical_path.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation.h"
#include "topology/routes.h"
#include "workload/memory_timeline.h"

namespace astra {

struct Explanation {
  std::vector<PathPiece> path;  // None without a timeline.
  Bounds bounds;
  std::vector<StageMemory> memory;  // None where the program says nothing.
  Bytes gpu_memory;                 // 0 where it is not known.
};

// Has a run of `workload` keep what an explanation needs, or a trace, unless
// that would be too much.
void KeepTimeline(const Program& program, bool trace,
                  SimulationOptions& options);

// None if `workload` is not a program. `options` are those of the run.
//
// Errors: those of Simulate().
absl::StatusOr<std::optional<Explanation>> Explain(
    const Program& program, const SimulationOptions& options, Routes& routes,
    const SimulationResult& result);

// breakdown.csv, critical_path.csv and memory.csv. Requires that `workload` is
// a program.
std::vector<NamedFile> ExplanationFiles(const Program& program,
                                        const Explanation& explanation,
                                        const SimulationResult& result);

// DescribeTime() of what was run, and of a program DescribeMemory().
std::string DescribeTimeOf(const Program& program, const Topology& topology,
                           const SimulationResult& result,
                           const std::optional<Explanation>& explanation);

// The section "iteration" of run.json. Requires that `workload` is a program.
Json IterationJson(const Program& program, const SimulationResult& result,
                   const Explanation& explanation);

// The section "memory" of run.json: of the stage that needs most, and whether
// that fits into the GPU, where the program says what the GPU has. Requires
// that there is any.
Json MemoryJson(const Explanation& explanation);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_EXPLANATION_H_
