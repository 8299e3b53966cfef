// Reads which rank a process is from the variables that mpirun and srun set.

#ifndef ASTRA_CORE_APPS_PHYSICAL_RANK_ENVIRONMENT_H_
#define ASTRA_CORE_APPS_PHYSICAL_RANK_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

// The address under which a host reaches itself.
inline constexpr std::string_view kThisHost = "127.0.0.1";

// Returns the value of a variable; none if it is not set.
using FindVariable =
    std::function<std::optional<std::string>(std::string_view)>;

// Returns the value of a variable of this process.
std::optional<std::string> FindInEnvironment(std::string_view name);

// The place of a process among the processes that were started with it.
struct RankEnvironment {
  std::string launcher;  // Name in messages: "mpirun", "srun" or "PMI".
  uint32_t rank = 0;
  uint32_t num_ranks = 0;
  uint32_t local_rank = 0;  // Place among the ranks of this host.
  // Host of rank 0, if it is known: the first host of Slurm's list, or
  // 127.0.0.1 if all processes are on one host.
  std::optional<std::string> first_host;
  // Port of rank 0. It is the same for all ranks of a job, and usually another
  // one for another job.
  uint16_t port = 0;
};

// Returns the place of this process, or none if neither mpirun nor srun has
// started it.
//
// Errors: InvalidArgument, with the variable, if its value is no valid number.
absl::StatusOr<std::optional<RankEnvironment>> ReadRankEnvironment(
    const FindVariable& find);

// Returns the first host of one of Slurm's lists: "node03" of
// "node[03-06,9],x1".
std::string FirstHost(std::string_view list);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_PHYSICAL_RANK_ENVIRONMENT_H_
