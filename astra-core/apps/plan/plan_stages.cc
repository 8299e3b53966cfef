#include "astra-core/apps/plan/plan_stages.h"

#include "astra-core/apps/iteration_run.h"
#include "astra-core/apps/plan/plan_run.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/results/stages_table.h"
#include "workload/memory_timeline.h"

namespace astra {

absl::StatusOr<NamedFile> StagesFile(const SimaiPlannerOptions& options,
                                     const Layout& layout) {
  ASTRA_ASSIGN_OR_RETURN(const Program program,
                         GenerateProgram(WorkloadOf(options, layout)));
  ASTRA_ASSIGN_OR_RETURN(
      const RunResult run,
      RunGenerated(options.run, program, /*keeps_timeline=*/true));
  return NamedFile{"stages.csv",
                   StagesCsv(program, MemoryOf(program), run.result)};
}

}  // namespace astra
