// Reads SimAI's variables of the environment, so that SimAI's commands work
// unchanged: AS_SEND_LAT=3 AS_NVLS_ENABLE=1 simai_simulator ...
//
// Nothing else is read from the environment, and nothing but this file reads
// it: the programs that run a workload call SimaiVariablesOfProcess() and pass
// the result on.

#ifndef ASTRA_CORE_APPS_SIMAI_ENVIRONMENT_H_
#define ASTRA_CORE_APPS_SIMAI_ENVIRONMENT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/collective_family.h"
#include "collectives/nccl/nccl_options.h"

namespace astra {

// Values by name of all variables whose names begin with kSimaiPrefix.
using SimaiVariables = std::map<std::string, std::string>;
inline constexpr std::string_view kSimaiPrefix = "AS_";

SimaiVariables SimaiVariablesOfProcess();

// A level says which lines go to stderr beside errors; AS_LOG_LEVEL sets it.
enum class LogLevel : uint8_t {
  kError,    // Nothing more.
  kWarning,  // Warnings.
  kInfo,     // Warnings, and the progress of the run.
};

// Settings that the variables give and that no option overrides.
struct SimaiSettings {
  std::optional<TimePs> send_latency;  // Value of AS_SEND_LAT.
  LogLevel log_level = LogLevel::kInfo;
  // For each variable that is set, a line with the meaning that it was given.
  std::vector<std::string> sources;
  bool has_nccl = false;  // A variable has set options of NCCL.
  Warnings warnings;      // Warnings about variables without effect.
};

// Parts of the command line that decide what variables mean.
struct SimaiOverrides {
  bool send_latency = false;
  bool has_messages = true;  // The fidelity is not the closed form.
  std::string_view nccl;     // Text of --nccl, to be applied afterwards.
};

// Reads `variables`. Changes `nccl` as the variables of NCCL ask for
// collectives of `family`.
//
// Errors: InvalidArgument, naming the variable, for a value that it cannot
// have.
absl::StatusOr<SimaiSettings> ReadSimaiVariables(
    const SimaiVariables& variables, const SimaiOverrides& overrides,
    CollectiveFamily family, NcclOptions& nccl);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_ENVIRONMENT_H_
