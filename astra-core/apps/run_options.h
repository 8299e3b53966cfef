// Options of a program that runs a workload, as its command line gives them.
//
// simai_analytical and simai_simulator take the same options and write the same
// files. They differ only in their defaults.

#ifndef ASTRA_CORE_APPS_RUN_OPTIONS_H_
#define ASTRA_CORE_APPS_RUN_OPTIONS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
#include "astra-core/engine/simulation_options.h"
#include "astra-core/run/fidelity.h"
#include "collectives/nccl/nccl_options.h"
#include "topology/two_level_cluster.h"

namespace astra {

// The programs differ in their names, and in how exactly they model
// communication unless --fidelity says otherwise.
struct RunDefaults {
  std::string_view program;
  Fidelity fidelity;
  std::string_view usage;                     // Beginning of --help.
  absl::Span<const CommandExample> examples;  // End of --help.
};

// A file of --algorithm, and the buffers that it is used for.
struct AlgorithmOption {
  std::string file;
  Bytes min_bytes;
  Bytes max_bytes{std::numeric_limits<int64_t>::max()};
};

struct RunOptions {
  // The inputs.
  std::string workload_file;
  std::optional<std::string> jobs_file;  // In place of the workload.
  std::optional<std::string> chakra;     // Prefix of files; in place of both.
  std::optional<std::string> groups_file;
  std::optional<std::string> pattern;  // See ParsePatterns(); in place of all.
  std::optional<std::string> topology_file;
  // The cluster, where there is no topology file. None: servers, NICs and
  // NVLinks of `system` below one switch.
  std::optional<TwoLevelParameters> cluster;
  std::optional<int64_t> num_gpus;      // Number that the inputs must have.
  std::optional<std::string> gpu_type;  // GPU that the topology must have.
  bool gpu_mismatch = false;  // Allows another GPU; see CheckSameGpuType.
  std::optional<std::string> network_file;
  std::vector<std::string> network_settings;  // See SetNetworkValues().
  std::optional<std::string> events_file;
  std::optional<std::string> bus_bandwidth_file;

  // The model of the run.
  Fidelity fidelity = Fidelity::kClosedForm;
  CollectiveFamily collectives = CollectiveFamily::kNccl;
  std::optional<std::string> system;  // Name or file; see system_library.h.
  // As LoadInferenceEngine takes it, or "none". Absent: vLLM's newest release
  // in inference, none in training.
  std::optional<std::string> engine;
  std::optional<std::string> dispatcher;    // As LoadDispatcher takes it.
  std::vector<std::string> measured_files;  // Measured collectives.
  std::vector<AlgorithmOption> algorithms;  // Own algorithms, in their order.
  bool has_launch = false;     // --launch was given, and holds for these files.
  std::string nccl_variables;  // Text of --nccl.
  NcclOptions nccl;
  std::array<double, kNumParallelDimensions> overlap{};
  TimePs send_latency;  // Delay before each message leaves.
  TimePs start_step;    // Of kernels of collectives; 0: none.
  Disturbances disturbances;
  std::optional<uint64_t> seed;  // None: as in the network file, or 1.
  TimePs stop_at;
  bool unroll = false;
  bool symmetry = false;
  std::optional<Acceleration> acceleration;  // Unless it was not given.
  ErrorBound bound;                          // Of kBounded.

  // How the program runs.
  SimaiSettings environment;
  int64_t num_threads = 1;  // Changes no result.
  bool estimate = false;    // Prints what the run would take, and stops.
  bool force = false;       // Runs even if the memory may not suffice.

  // The output.
  std::string name;    // Name of the run.
  std::string output;  // Folder for the results.
  std::optional<TimePs> sample_interval;
  // Source and target of a link.
  std::optional<std::pair<NodeId, NodeId>> capture;
  bool simai_files = false;
  bool trace = false;
  bool report = false;
  bool memory_snapshot = false;
  std::optional<int64_t> snapshot_stage;  // None: the one that needs most.
  bool chart = false;
  ChartLanguage language = ChartLanguage::kEnglish;  // Language of the chart.
  Warnings warnings;  // Warnings about options without effect.

  // Returns the name of the cluster in messages: its file, "-g" or "--system".
  std::string cluster_name() const {
    return topology_file.value_or(cluster ? "-g" : "--system");
  }
};

// Returns the options of all programs that run a workload.
absl::Span<const OptionSpec> RunOptionSpecs();

// Reads the options for a cluster that a few rates describe.
//
// Errors: InvalidArgument for an option that is missing or wrong.
absl::StatusOr<TwoLevelParameters> ReadTwoLevelCluster(
    const CommandLine& flags);

// Reads the command line of a program with `defaults`. `variables` are the
// variables of the environment; options take precedence over them.
//
// Errors: InvalidArgument for a missing or wrong option or variable, and for an
// option that has no effect beside the others.
absl::StatusOr<RunOptions> ReadRunOptions(const RunDefaults& defaults,
                                          const CommandLine& flags,
                                          const SimaiVariables& variables);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_OPTIONS_H_
