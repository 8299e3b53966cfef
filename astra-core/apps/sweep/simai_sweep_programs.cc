#include "astra-core/apps/sweep/simai_sweep_programs.h"

#include <array>

#include "astra-core/apps/collective/simai_collective_options.h"
#include "astra-core/apps/gen_topo_options.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "astra-core/apps/run_options.h"

namespace astra {

absl::Span<const SweptProgram> SweptPrograms() {
  static const std::array<SweptProgram, 6> programs = {{
      {.name = "gen_topo",
       .role = ProgramRole::kTopology,
       .options = GenTopoOptionSpecs(),
       .refused = "help version output"},
      {.name = "gen_workload",
       .role = ProgramRole::kWorkload,
       .options = GenWorkloadOptionSpecs(),
       .refused = "help version output list-models list-gpus list-frameworks "
                  "result-dir "
                  "enable-visual"},
      {.name = "simai_analytical",
       .role = ProgramRole::kRun,
       .options = RunOptionSpecs(),
       .topology_option = "topology",
       .workload_option = "workload",
       .refused = "help version output result columns estimate",
       .objective = "iteration_ms"},
      {.name = "simai_collective",
       .role = ProgramRole::kRun,
       .options = SimaiCollectiveOptionSpecs(),
       .topology_option = "topology",
       .refused = "help version output result list-systems tuning flows "
                  "compare compare-table calibrate in-place",
       .objective = "time_us"},
      {.name = "simai_planner",
       .role = ProgramRole::kRun,
       .options = SimaiPlannerOptionSpecs(),
       .topology_option = "topology",
       .refused = "help version output result objective",
       .objective = "iteration_ms"},
      {.name = "simai_simulator",
       .role = ProgramRole::kRun,
       .options = RunOptionSpecs(),
       .topology_option = "topology",
       .workload_option = "workload",
       .refused = "help version output result columns estimate",
       .objective = "iteration_ms"},
  }};
  return programs;
}

}  // namespace astra
