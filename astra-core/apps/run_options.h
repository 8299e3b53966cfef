// What the command line of a program that runs a workload asks for.
//
// simai_analytical and simai_simulator take the same options and write the same
// files. They differ in their defaults only.

#ifndef ASTRA_CORE_APPS_RUN_OPTIONS_H_
#define ASTRA_CORE_APPS_RUN_OPTIONS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/simai_environment.h"
#include "astra-core/apps/time_chart.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/log.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/run/fidelity.h"
#include "collectives/nccl/nccl_options.h"
#include "topology/two_level_cluster.h"

namespace astra {

// In what the programs differ: their names, and how exactly they model
// communication unless --fidelity says otherwise.
struct RunDefaults {
  std::string_view program;
  Fidelity fidelity;
  std::string_view usage;                     // The beginning of --help.
  absl::Span<const CommandExample> examples;  // The end of --help.
};

struct RunOptions {
  // The inputs.
  std::string workload_file;
  std::optional<std::string> topology_file;  // None: `cluster` is drawn.
  TwoLevelParameters cluster;
  std::optional<int64_t> num_gpus;      // Checked against the inputs.
  std::optional<std::string> gpu_type;  // Checked against the topology file.
  bool gpu_mismatch = false;            // See CheckSameGpuType.
  std::optional<std::string> network_file;
  std::optional<std::string> bus_bandwidth_file;

  // How it is modelled.
  Fidelity fidelity = Fidelity::kClosedForm;
  CollectiveFamily collectives = CollectiveFamily::kNccl;
  std::optional<std::string> system;  // Name or file; see system_library.h.
  std::string nccl_variables;         // As given.
  NcclOptions nccl;
  std::array<double, kNumParallelDimensions> overlap{};
  TimePs send_latency;  // Passes before each message leaves.
  Disturbances disturbances;
  std::optional<uint64_t> seed;  // None: that of the network file, or 1.
  TimePs stop_at;
  bool unroll = false;
  bool symmetry = false;

  // How the program runs.
  SimaiSettings environment;
  int64_t num_threads = 1;  // Changes no result.
  bool estimate = false;    // Say what the run would take, and stop.
  bool force = false;       // Go on where the memory may not suffice.

  // What is written.
  std::string name;    // Of the run.
  std::string output;  // The folder for the results.
  std::optional<TimePs> sample_interval;
  std::optional<std::pair<NodeId, NodeId>> capture;  // Source and target.
  bool simai_files = false;
  bool trace = false;
  bool chart = false;
  ChartLanguage language = ChartLanguage::kEnglish;  // Of the chart.
  Warnings warnings;  // About options that have no effect.

  // Returns what messages call the cluster: its file, or "-g".
  std::string cluster_name() const { return topology_file.value_or("-g"); }
};

// Returns the options of all programs that run a workload.
absl::Span<const OptionSpec> RunOptionSpecs();

// Reads the options behind a cluster that a few rates describe.
//
// Errors: InvalidArgument for an option that is missing or wrong.
absl::StatusOr<TwoLevelParameters> ReadTwoLevelCluster(
    const CommandLine& flags);

// Reads the command line of a program with `defaults`. `variables` are those of
// the environment; options go before them.
//
// Errors: InvalidArgument for a missing or wrong option or variable, and for an
// option that has no effect beside the others.
absl::StatusOr<RunOptions> ReadRunOptions(const RunDefaults& defaults,
                                          const CommandLine& flags,
                                          const SimaiVariables& variables);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_OPTIONS_H_
