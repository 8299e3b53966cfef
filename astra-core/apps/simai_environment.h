// SimAI's variables of the environment, so that SimAI's commands work as they
// are: AS_SEND_LAT=3 AS_NVLS_ENABLE=1 simai_simulator ...
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

// Values by name, of all variables whose names begin with kSimaiPrefix.
using SimaiVariables = std::map<std::string, std::string>;
inline constexpr std::string_view kSimaiPrefix = "AS_";

SimaiVariables SimaiVariablesOfProcess();

// Selects what goes to stderr beside errors; see AS_LOG_LEVEL.
enum class LogLevel : uint8_t {
  kError,    // Nothing.
  kWarning,  // Warnings.
  kInfo,     // Warnings, and how far the run is.
};

// Settings that the variables give and that no option overrides.
struct SimaiSettings {
  std::optional<TimePs> send_latency;  // AS_SEND_LAT.
  LogLevel log_level = LogLevel::kInfo;
  // A line for each variable that is set: what it has been taken for.
  std::vector<std::string> sources;
  bool has_nccl = false;  // Whether options of NCCL were set.
  Warnings warnings;      // Of variables without effect.
};

// What the command line says that decides what variables mean.
struct SimaiOverrides {
  bool send_latency = false;
  bool has_messages = true;  // The fidelity is not the closed form.
  std::string_view nccl;     // The text of --nccl, to be applied afterwards.
};

// Reads `variables`, and sets what those of NCCL mean for collectives of
// `family` in `nccl`.
//
// Errors: InvalidArgument, naming the variable, for a value that is none.
absl::StatusOr<SimaiSettings> ReadSimaiVariables(
    const SimaiVariables& variables, const SimaiOverrides& overrides,
    CollectiveFamily family, NcclOptions& nccl);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMAI_ENVIRONMENT_H_
