// What the command line of simai_collective asks for.

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
  kSweep,  // A line for each size, as nccl-tests prints them.
  kListSystems,
  kCompareLog,
  kCompareTable,
  kCalibrate,
  kCalibrateTable,
};

// The cluster, as far as the command line tells.
struct ClusterOptions {
  std::string system;  // A name or a file; empty where none is needed.
  std::optional<std::string> topology_file;
  std::optional<uint32_t> num_servers;
  std::optional<uint32_t> gpus_per_server;
  std::optional<uint32_t> num_gpus;
  std::vector<RankId> ranks;  // None: all.
};

// What NCCL is told.
struct NcclSettings {
  std::optional<std::string> list;
  std::optional<std::string> file;
  std::optional<Launch> launch;  // None: by the host, or as a log says.
  bool symmetric = false;
};

struct SimaiCollectiveOptions {
  CollectiveTask task = CollectiveTask::kSweep;
  ClusterOptions cluster;
  NcclSettings nccl;

  // Of a sweep. The kind is also that of a log which does not tell.
  std::optional<CollectiveKind> kind;  // Always there in a sweep.
  SizeSweep sizes;
  ElementType type = {"float", 4};
  std::string redop = "sum";
  uint32_t root = 0;
  // The closed form says what NCCL's choice takes. All others run every
  // message.
  Fidelity fidelity = Fidelity::kClosedForm;
  std::optional<std::string> network_file;  // With the networks that read one.
  // A name in the registry of collectives, or a file, whose name has a dot.
  std::optional<std::string> algorithm;
  std::optional<std::string> flows;  // A file.
  bool tuning = false;

  // Of a comparison and a calibration.
  std::string measurements;  // A file.
  bool in_place = false;

  std::string name;    // Of the run.
  std::string output;  // The folder for the results.
};

absl::Span<const OptionSpec> SimaiCollectiveOptionSpecs();

// The text of --help.
std::string SimaiCollectiveHelp();

// The examples that --help ends with.
absl::Span<const CommandExample> SimaiCollectiveExamples();

// Errors: InvalidArgument for a missing or wrong option, and for one that has
// no effect beside the others.
absl::StatusOr<SimaiCollectiveOptions> ReadSimaiCollectiveOptions(
    const CommandLine& flags);

// Whether nccl-tests has an operation ("sum"), or a root, for the kind.
bool HasRedop(CollectiveKind kind);
bool HasRoot(CollectiveKind kind);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COLLECTIVE_SIMAI_COLLECTIVE_OPTIONS_H_
