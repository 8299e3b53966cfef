// Reads the command line of InternEvo's way of planning into a request.

#ifndef ASTRA_CORE_APPS_PLAN_INTERNEVO_REQUEST_H_
#define ASTRA_CORE_APPS_PLAN_INTERNEVO_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_model.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

inline constexpr double kBillion = 1e9;  // Parameters are told in billions.

struct EvoRequest {
  EvoModel model;
  int64_t seq_len = 0;
  int64_t world = 1;
  std::optional<EvoLayout> layout;  // To be priced; none: all are searched.
  int64_t tokens = 0;               // Of a step, for a search.
  GpuSpec gpu;
  RunOptions run;                      // The cluster.
  std::optional<std::string> profile;  // Folder of measured tables.
  double load = 1;                     // See EvoJob.
  double attention_speed = 1;          // Factor already applied to `gpu`.
  bool draws_heatmap = false;
  size_t shown = 0;  // Solutions in the table on the screen.

  std::string name;    // Name of the run.
  std::string output;  // Folder for the results.
  Warnings warnings;
};

// Reads the command line and the config it names.
//
// Errors: InvalidArgument for a missing or wrong option, one that has no effect
// here, a model that is not known or is not that of the config, and a config
// whose sizes do not divide one another; those of ReadFile and ReadEvoConfig.
absl::StatusOr<EvoRequest> ReadEvoRequest(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PLAN_INTERNEVO_REQUEST_H_
