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

// Which part of a run this process is.
enum class PhysicalRole : uint8_t {
  kLauncher,  // Starts the ranks of a host file, and coordinates them.
  kFirst,     // Rank 0, which also coordinates.
  kRank,
};

struct SimaiPhysicalOptions {
  RunOptions run;  // What is run.
  PhysicalRole role = PhysicalRole::kRank;
  uint32_t rank = 0;                  // But of the launcher.
  std::optional<uint32_t> num_ranks;  // That the environment says.

  std::string hosts_file;  // Of the launcher.
  std::vector<std::string> remote_shell;
  // Where the coordinator is. Of the launcher: where it listens; port 0 if any
  // will do, and no host if it is to find one.
  Endpoint coordinator;
  std::string address;  // Of this rank for others; see RankSetting.
  std::optional<std::string> secret_file;
  bool is_launched = false;  // By simai_physical; the secret comes on stdin.

  uint32_t num_warm_ups = 1;
  uint32_t num_iterations = 1;  // That are measured.
  std::chrono::seconds join_limit{};
  std::chrono::seconds time_limit{};
  std::optional<std::string> beside;  // Folder of a simulated run.

  // The options that every rank needs, as its command line has them.
  std::vector<std::string> for_ranks;
  // What the options say that has to be the same for all ranks, but for the
  // contents of files.
  std::string what;
};

absl::Span<const OptionSpec> SimaiPhysicalOptionSpecs();
std::string SimaiPhysicalHelp();
absl::Span<const CommandExample> SimaiPhysicalExamples();

// Errors: InvalidArgument for a missing or wrong option or variable of the
// environment, and for an option that has no effect.
absl::StatusOr<SimaiPhysicalOptions> ReadSimaiPhysicalOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_SIMAI_PHYSICAL_OPTIONS_H_
