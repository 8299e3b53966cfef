// Options of simai_planner, as its command line gives them.

#ifndef ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_OPTIONS_H_
#define ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_OPTIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/gen_workload_options.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/planner/layout.h"
#include "astra-core/planner/plan_space.h"

namespace astra {

struct SimaiPlannerOptions {
  PlanJob job;
  // What gen_workload reads of the job without its layout, by ZeRO stage.
  std::array<GenWorkloadOptions, kNumZeroStages> workloads;
  PlanSpace space;
  RunOptions run;
  // The same with another fidelity, for the best plans; none: not asked for.
  std::optional<RunOptions> closer_run;
  size_t closer_plans = 0;

  bool exhaustive = false;
  size_t candidates = 0;  // Layouts whose whole iteration is run.
  int64_t threads = 1;    // Changes no result.
  size_t shown = 0;       // Plans in the table on the screen.

  bool plot = false;       // Print DescribePlot() as well.
  bool what_if = false;    // See PlanWhatIf.
  bool objective = false;  // See AnswerStdin.
  // The options of the search, as words.
  std::vector<std::string> words;

  // Words of the job for commands that repeat a plan.
  std::vector<std::string> workload_words;
  std::vector<std::string> run_words;

  std::string name;    // Name of the run.
  std::string output;  // Folder for the results.
  Warnings warnings;
};

absl::Span<const OptionSpec> SimaiPlannerOptionSpecs();

// Returns the text of --help.
std::string SimaiPlannerHelp();

// Returns the examples that --help ends with.
absl::Span<const CommandExample> SimaiPlannerExamples();

// Reads the options of the cluster, which is the system that is built with
// `gpu` unless they say otherwise. Sets `words` to them. Errors: those of
// ReadRunOptions and SystemOfGpu.
absl::StatusOr<RunOptions> ReadPlannerCluster(const CommandLine& flags,
                                              const GpuSpec& gpu,
                                              std::vector<std::string>* words);

// Returns the memory of a GPU in GiB, as GpuSpec has it: what --memory says, or
// all. Errors: InvalidArgument for no memory.
absl::StatusOr<double> ReadPlannerMemory(const CommandLine& flags,
                                         const GpuSpec& gpu);

// Reads the command line. Errors: InvalidArgument for a missing or wrong
// option; those of ReadGenWorkloadOptions and ReadRunOptions.
absl::StatusOr<SimaiPlannerOptions> ReadSimaiPlannerOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_SIMAI_PLANNER_OPTIONS_H_
