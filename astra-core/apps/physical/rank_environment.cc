#include "astra-core/apps/physical/rank_environment.h"

#include <cstdlib>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/sha256.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// The variables of one launcher.
struct Launcher {
  std::string_view name;         // Name of the launcher in messages.
  std::string_view rank;         // Variable with the rank.
  std::string_view num_ranks;    // Variable with the number of ranks.
  std::string_view local_rank;   // Variable with the rank on this host.
  std::string_view local_ranks;  // Variable with the ranks on this host, or "".
  std::string_view job;          // Variable that differs between jobs.
};
constexpr Launcher kLaunchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE"},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "",
     "SLURM_JOB_ID"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "", "PMI_JOBID"},
};

absl::StatusOr<uint32_t> ReadNumber(const FindVariable& find,
                                    std::string_view name, int64_t min,
                                    int64_t max) {
  const std::string text = find(name).value_or("");
  const auto number = ParseInteger("", text, min, max);
  if (number.ok()) return static_cast<uint32_t>(*number);
  return absl::InvalidArgumentError(
      fmt::format("{} is {}: expected a whole number from {} to {}", name,
                  Quoted(text), min, max));
}

// Services often use lower ports, and outgoing connections higher ones.
uint16_t PortFor(std::string_view job) {
  constexpr uint32_t kFirst = 20'000;
  constexpr uint32_t kCount = 10'000;
  uint32_t number = 0;
  for (const char digit : Sha256(job).substr(0, 8)) {
    number = number * 31 + static_cast<unsigned char>(digit);
  }
  return static_cast<uint16_t>(kFirst + number % kCount);
}

std::optional<std::string> FirstHostOf(const Launcher& launcher,
                                       uint32_t num_ranks,
                                       const FindVariable& find) {
  if (!launcher.local_ranks.empty() &&
      find(launcher.local_ranks) == std::to_string(num_ranks)) {
    return std::string(kThisHost);
  }
  if (launcher.name != "srun") return std::nullopt;
  if (find("SLURM_STEP_NUM_NODES") == "1") return std::string(kThisHost);
  const auto list = find("SLURM_STEP_NODELIST");
  return list ? std::optional(FirstHost(*list)) : std::nullopt;
}

}  // namespace

std::optional<std::string> FindInEnvironment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

absl::StatusOr<std::optional<RankEnvironment>> ReadRankEnvironment(
    const FindVariable& find) {
  constexpr int64_t kMost = 1 << 24;
  for (const Launcher& launcher : kLaunchers) {
    if (!find(launcher.rank)) continue;
    // A shell within an allocation has Slurm's variables, but is no step.
    if (launcher.name == "srun" && !find("SLURM_STEP_ID")) continue;
    RankEnvironment environment;
    environment.launcher = std::string(launcher.name);
    ASTRA_ASSIGN_OR_RETURN(environment.num_ranks,
                           ReadNumber(find, launcher.num_ranks, 1, kMost));
    ASTRA_ASSIGN_OR_RETURN(
        environment.rank,
        ReadNumber(find, launcher.rank, 0, environment.num_ranks - 1));
    if (find(launcher.local_rank)) {
      ASTRA_ASSIGN_OR_RETURN(
          environment.local_rank,
          ReadNumber(find, launcher.local_rank, 0, environment.num_ranks - 1));
    }
    environment.first_host = FirstHostOf(launcher, environment.num_ranks, find);
    environment.port = PortFor(find(launcher.job).value_or("") + '.' +
                               find("SLURM_STEP_ID").value_or(""));
    return environment;
  }
  return std::nullopt;
}

std::string FirstHost(std::string_view list) {
  const size_t bracket = list.find('[');
  const size_t comma = list.find(',');
  if (comma < bracket || bracket == std::string_view::npos) {
    return std::string(list.substr(0, comma));
  }
  const std::string_view within = list.substr(bracket + 1);
  return std::string(list.substr(0, bracket)) +
         std::string(within.substr(0, within.find_first_of("-,]")));
}

}  // namespace astra
