// Chooses the GPUs of each job of a cluster.

#ifndef ASTRA_CORE_JOBS_PLACEMENT_H_
#define ASTRA_CORE_JOBS_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "topology/topology.h"

namespace astra {

// How jobs that name no servers get some.
enum class PlacementPolicy : uint8_t {
  kPacked,  // The free servers with the lowest numbers.
  // In turn from each set of servers that share their leaf switches, the sets
  // with the fewest busy servers first.
  kSpread,
  kRandom,  // Any free servers, in any order, by a seed.
};
constexpr std::string_view kPlacementPolicies[] = {"packed", "spread",
                                                   "random"};

// What a job needs, and what it says of where it wants to run.
struct PlacementWish {
  std::string name;        // Of the job, for messages.
  std::string place = {};  // Of the job in its file, before messages.
  uint32_t num_ranks = 0;  // At least 1.
  // Servers in the order of the ranks; empty: the policy chooses.
  std::vector<uint32_t> servers;
  // GPUs of each server, in the order of the ranks; empty: all.
  std::vector<uint32_t> gpus_of_server;
  // GPU of each rank, in place of `servers` and `gpus_of_server`; empty: not
  // known.
  std::vector<uint32_t> gpu_of_rank;
};

struct JobPlace {
  std::vector<uint32_t> gpus;    // Of the cluster, by rank.
  uint32_t gpus_per_server = 1;  // Successive ranks on one server.
};

// Returns the place of each job. Jobs that name servers or the GPUs of their
// ranks are placed first, then the others in their order.
//
// Errors: InvalidArgument, with the name of the job, for servers or GPUs that
// do not exist or do not suffice, for ranks that do not fill servers, and for
// GPUs of two jobs.
absl::StatusOr<std::vector<JobPlace>> PlaceJobs(
    const Topology& topology, absl::Span<const PlacementWish> wishes,
    PlacementPolicy policy, uint64_t seed);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_PLACEMENT_H_
