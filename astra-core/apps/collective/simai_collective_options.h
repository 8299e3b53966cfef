// Options of simai_collective, as its command line gives them.

#ifndef ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_OPTIONS_H_
#define ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/collective/nccl_tests_sizes.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/run/fidelity.h"
#include "collectives/nccl/nccl_options.h"

namespace astra {

enum class CollectiveTask : uint8_t {
  kSweep,  // Prints a line for each size, as nccl-tests does.
  kListSystems,
  kCompareLog,
  kCompareTable,
  kCalibrate,
};

// Cluster to predict for, as far as the command line describes it.
struct ClusterOptions {
  std::string system;  // Name or file; empty where none is needed.
  std::optional<std::string> topology_file;
  std::optional<uint32_t> num_servers;
  std::optional<uint32_t> gpus_per_server;
  std::optional<uint32_t> num_gpus;
  std::vector<RankId> ranks;  // Ranks of the group; empty: all ranks.
};

// Settings of NCCL from the command line.
struct NcclSettings {
  std::optional<std::string> list;
  std::optional<std::string> file;
  std::optional<Launch> launch;       // None: from the host, or as a log says.
  std::optional<std::string> engine;  // As LoadInferenceEngine takes it.
  std::vector<std::string> measured;  // Files of measured collectives.
  std::optional<std::string> dispatcher;  // As LoadDispatcher takes it.
  std::optional<std::string> routing;     // As ParseRouting takes it.
  bool symmetric = false;
};

struct SimaiCollectiveOptions {
  CollectiveTask task = CollectiveTask::kSweep;
  ClusterOptions cluster;
  NcclSettings nccl;

  // Fields of a sweep, up to `tuning`. The kind is also that of a log without
  // one.
  std::optional<CollectiveKind> kind;  // Always set for a sweep.
  SizeSweep sizes;
  ElementType type = {"float", 4};
  std::string redop = "sum";
  uint32_t root = 0;
  // The closed form gives the time of NCCL's choice. All other fidelities run
  // every message.
  Fidelity fidelity = Fidelity::kClosedForm;
  uint32_t num_threads = 1;                 // Changes no result.
  std::optional<std::string> network_file;  // For fidelities that read one.
  // Name in the registry of collectives, or a file, whose name has a dot.
  std::optional<std::string> algorithm;
  std::optional<std::string> flows;  // Path for the flows.
  bool tuning = false;

  // Fields of a comparison or a calibration.
  std::string measurements;  // Path of a log, a table or a folder.
  bool in_place = false;

  std::string name;    // Name of the run.
  std::string output;  // Folder for the results.
};

absl::Span<const OptionSpec> SimaiCollectiveOptionSpecs();

// Returns the text of --help.
std::string SimaiCollectiveHelp();

// Returns the examples that --help ends with.
absl::Span<const CommandExample> SimaiCollectiveExamples();

// Reads the command line. Errors: InvalidArgument for a missing or wrong
// option, and for one that has no effect beside the others.
absl::StatusOr<SimaiCollectiveOptions> ReadSimaiCollectiveOptions(
    const CommandLine& flags);

// Return whether nccl-tests has an operation ("sum"), or a root, for the kind.
bool HasRedop(CollectiveKind kind);
bool HasRoot(CollectiveKind kind);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_OPTIONS_H_
