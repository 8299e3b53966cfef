// What mpirun and srun tell the processes that they start, in variables of the
// environment.

#ifndef ASTRA_CORE_APPS_PHYSICAL_RANK_ENVIRONMENT_H_
#define ASTRA_CORE_APPS_PHYSICAL_RANK_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

// Returns the value of a variable; none if it is not set.
using FindVariable =
    std::function<std::optional<std::string>(std::string_view)>;

// Where a process stands among those that were started with it.
struct RankEnvironment {
  std::string launcher;  // "mpirun", "srun" or "PMI".
  uint32_t rank = 0;
  uint32_t num_ranks = 0;
  // The host of rank 0, if it is known: the first of Slurm's list, or this one
  // where all processes are on one host.
  std::optional<std::string> first_host;
  // A port that differs between jobs of one host, and is the same for all ranks
  // of a job.
  uint16_t port = 0;
};

// Returns none for a process that none of these has started.
//
// Errors: InvalidArgument for a variable that is not what it should be.
absl::StatusOr<std::optional<RankEnvironment>> ReadRankEnvironment(
    const FindVariable& find);

// Returns the first host of one of Slurm's lists: "node03" of
// "node[03-06,9],x1".
std::string FirstHost(std::string_view list);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_RANK_ENVIRONMENT_H_
