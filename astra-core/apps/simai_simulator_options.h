// What the command line of simai_simulator asks for.

#ifndef ASTRA_CORE_APPS_SIMAI_SIMULATOR_OPTIONS_H_
#define ASTRA_CORE_APPS_SIMAI_SIMULATOR_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/simai_environment.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/engine/collective_lowering.h"
#include "collectives/nccl/nccl_options.h"
#include "network-frontends/registry/registry.h"

namespace astra {

struct SimaiSimulatorOptions {
  std::string workload_file;
  std::string topology_file;
  std::optional<std::string> network_file;
  const BackendEntry* backend = nullptr;
  CollectiveFamily collectives = CollectiveFamily::kNccl;
  std::optional<std::string> system;  // Name or file; see system_library.h.
  std::string nccl_variables;         // As given.
  NcclOptions nccl;
  TimePs send_latency;  // Of each message.
  SimaiSettings environment;
  Disturbances disturbances;
  std::optional<uint64_t> seed;  // Else that of the network file.
  int64_t num_threads = 1;       // Changes no result.
  TimePs stop_at;
  bool unroll = false;
  bool gpu_mismatch = false;  // See CheckSameGpuType.
  bool symmetry = false;
  bool estimate = false;
  bool force = false;  // Run even if the memory is not there.
  std::optional<TimePs> sample_interval;
  std::optional<std::pair<NodeId, NodeId>> capture;  // Source and target.
  bool simai_files = false;
  bool trace = false;
  std::string name;    // Of the run.
  std::string output;  // The folder for the results.
};

absl::Span<const OptionSpec> SimaiSimulatorOptionSpecs();

// The text of --help.
std::string SimaiSimulatorHelp();

// The examples that --help ends with.
absl::Span<const CommandExample> SimaiSimulatorExamples();

// `variables` are those of the environment; options go before them.
//
// Errors: InvalidArgument for a missing or wrong option or variable, and for an
// option that has no effect beside the others.
absl::StatusOr<SimaiSimulatorOptions> ReadSimaiSimulatorOptions(
    const CommandLine& flags, const SimaiVariables& variables);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_SIMULATOR_OPTIONS_H_
