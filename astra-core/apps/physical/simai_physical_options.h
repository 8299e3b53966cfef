// Options of simai_physical.

#ifndef ASTRA_CORE_APPS_PHYSICAL_SIMAI_PHYSICAL_OPTIONS_H_
#define ASTRA_CORE_APPS_PHYSICAL_SIMAI_PHYSICAL_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/hosts/socket.h"

namespace astra {

// Tells which part of a run this process carries out.
enum class PhysicalRole : uint8_t {
  kLauncher,  // Starts the ranks of a host file, and coordinates them.
  kFirst,     // Is rank 0, and coordinates all ranks.
  kRank,      // Is a rank that does not coordinate.
};

// Tells over what ranks send their messages.
enum class PhysicalTransport : uint8_t { kTcp, kRdma };

struct SimaiPhysicalOptions {
  RunOptions run;  // Workload, topology, model and output.
  PhysicalRole role = PhysicalRole::kRank;
  uint32_t rank = 0;  // Rank of this process; unused by the launcher.
  // Number of ranks that mpirun or srun has started, if one of them has.
  std::optional<uint32_t> num_ranks;

  std::string hosts_file;                 // Host file of the launcher.
  std::vector<std::string> remote_shell;  // Words before the name of a host.
  // Ranks reach the coordinator at this endpoint. The launcher chooses the host
  // itself if it is "", and the port if it is 0.
  Endpoint coordinator;
  std::string address;  // See RankSetting.
  PhysicalTransport transport = PhysicalTransport::kTcp;
  std::string provider;              // See DeviceWish.
  std::vector<std::string> devices;  // Devices of this rank's host; "" for all.
  uint32_t local_rank = 0;           // Place of this rank among its host's.
  std::optional<std::string> secret_file;
  bool is_launched = false;  // The launcher started this rank.

  uint32_t num_warm_ups = 1;    // Iterations that are not measured.
  uint32_t num_iterations = 1;  // Iterations that are measured.
  std::chrono::seconds join_limit{};
  std::chrono::seconds time_limit{};
  std::optional<std::string> beside;  // Results of a simulated run to compare.

  // Words of the command line that the launcher passes on to each rank.
  std::vector<std::string> for_ranks;
  // Version and options that must be the same for all ranks, without the names
  // and contents of their files.
  std::string what;
  std::vector<std::string> files;  // Files whose contents must be the same.
};

absl::Span<const OptionSpec> SimaiPhysicalOptionSpecs();
std::string SimaiPhysicalHelp();
absl::Span<const CommandExample> SimaiPhysicalExamples();

// Returns the options of the command line and of the environment.
//
// Errors: InvalidArgument for a missing or wrong option or variable of the
// environment, and for an option that has no effect.
absl::StatusOr<SimaiPhysicalOptions> ReadSimaiPhysicalOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_SIMAI_PHYSICAL_OPTIONS_H_
