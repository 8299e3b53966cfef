#include "astra-core/apps/run_output.h"

#include <filesystem>
#include <limits>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "collectives/closed_form.h"
#include "fmt/core.h"

namespace astra {

absl::StatusOr<std::string> NameOfInput(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  if (!IsFileName(name)) ASTRA_RETURN_IF_ERROR(ReadFile(path).status());
  return name;
}

absl::StatusOr<RunOutput> ReadRunOutput(const CommandLine& flags,
                                        std::string_view otherwise) {
  RunOutput output;
  output.name = flags.value("result").value_or(std::string(otherwise));
  if (!IsFileName(output.name)) {
    const std::string_view given =
        flags.has("result") ? "" : "missing, and the input is named ";
    return absl::InvalidArgumentError(
        fmt::format("--result is {}{}: expected a name without \"/\" and "
                    "control characters; see -o",
                    given, Quoted(output.name)));
  }
  output.folder =
      flags.value("output").value_or(fmt::format("results/{}", output.name));
  if (output.folder.empty()) {
    return absl::InvalidArgumentError("--output is empty: expected a folder");
  }
  return output;
}

absl::StatusOr<Disturbances> ReadDisturbances(const CommandLine& flags) {
  constexpr double kMaxContention = 0.99;
  constexpr double kMaxJitter = 10;
  Disturbances disturbances;
  if (flags.has("contention")) {
    ASTRA_ASSIGN_OR_RETURN(disturbances.contention,
                           flags.number("contention", 0, kMaxContention));
  }
  ASTRA_ASSIGN_OR_RETURN(disturbances.jitter,
                         flags.number("jitter", 0, kMaxJitter));
  return disturbances;
}

absl::StatusOr<std::optional<uint64_t>> ReadSeed(const CommandLine& flags) {
  if (!flags.has("seed")) return std::nullopt;
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t seed,
      flags.integer("seed", 1, 0, std::numeric_limits<int64_t>::max()));
  return static_cast<uint64_t>(seed);
}

absl::StatusOr<TimePs> ReadStopAt(const CommandLine& flags) {
  const std::optional<std::string> text = flags.value("stop-at");
  if (!text) return kMaxCollectiveTime;
  absl::StatusOr<TimePs> stop_at = ParseTime(*text);
  if (stop_at.ok() && *stop_at <= kMaxCollectiveTime) return stop_at;
  return absl::InvalidArgumentError(
      fmt::format("--stop-at: {} is not a time of at most 26 days, such as 10s",
                  Quoted(*text)));
}

}  // namespace astra
