// What the command line of simai_analytical asks for.

#ifndef ASTRA_CORE_APPS_SIMAI_ANALYTICAL_OPTIONS_H_
#define ASTRA_CORE_APPS_SIMAI_ANALYTICAL_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/time_chart.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/engine/simulation.h"
#include "collectives/nccl/nccl_options.h"
#include "topology/two_level_cluster.h"

namespace astra {

struct SimaiAnalyticalOptions {
  std::string workload_file;
  std::optional<std::string> topology_file;  // Else `cluster` is meant.
  TwoLevelParameters cluster;
  std::optional<std::string> bus_bandwidth_file;
  std::optional<std::string> system;    // Name or file; see system_library.h.
  std::string nccl_variables;           // As given.
  NcclOptions nccl;                     // Of the system.
  std::optional<int64_t> num_gpus;      // Checked against the inputs.
  std::optional<std::string> gpu_type;  // Checked against the topology file.
  bool gpu_mismatch = false;            // See CheckSameGpuType.
  bool trace = false;
  bool force = false;  // Goes on where the memory may not suffice.
  bool chart = false;
  ChartLanguage language = ChartLanguage::kEnglish;  // Of the chart.
  Warnings warnings;             // Options that have no effect.
  std::string name;              // Of the run.
  std::string output;            // The folder for the results.
  SimulationOptions simulation;  // All but the bus bandwidths.
};

absl::Span<const OptionSpec> SimaiAnalyticalOptionSpecs();

// The text of --help.
std::string SimaiAnalyticalHelp();

// The examples that --help ends with.
absl::Span<const CommandExample> SimaiAnalyticalExamples();

// Errors: InvalidArgument for a missing or wrong option, and for one that has
// no effect beside the others.
absl::StatusOr<SimaiAnalyticalOptions> ReadSimaiAnalyticalOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_ANALYTICAL_OPTIONS_H_
