#include "astra-core/jobs/placement.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status ErrorOf(const PlacementWish& wish, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("{}{}job {}: {}", wish.place,
                                                wish.place.empty() ? "" : ": ",
                                                wish.name, what));
}

// Which GPUs are taken, and by which job.
class Occupancy {
 public:
  Occupancy(const Topology& topology, absl::Span<const PlacementWish> wishes)
      : topology_(topology),
        wishes_(wishes),
        owner_(topology.num_gpus(), kFree) {}

  // Gives the GPUs of `place` to a job.
  absl::Status Take(size_t job, const JobPlace& place) {
    for (const uint32_t gpu : place.gpus) {
      if (gpu >= owner_.size()) {
        return ErrorOf(
            wishes_[job],
            fmt::format("expected GPUs below {}, not {}", owner_.size(), gpu));
      }
      if (owner_[gpu] != kFree) {
        return ErrorOf(wishes_[job],
                       fmt::format("GPU {} is taken by job {}", gpu,
                                   wishes_[owner_[gpu]].name));
      }
      owner_[gpu] = job;
    }
    return absl::OkStatus();
  }

  std::vector<uint32_t> FreeServers() const {
    std::vector<uint32_t> servers;
    const uint32_t size = topology_.gpus_per_server();
    for (uint32_t server = 0; server < topology_.num_servers(); ++server) {
      const auto first = owner_.begin() + std::ptrdiff_t{server} * size;
      const bool is_free = std::all_of(
          first, first + size, [](size_t owner) { return owner == kFree; });
      if (is_free) servers.push_back(server);
    }
    return servers;
  }

 private:
  static constexpr size_t kFree = ~size_t{0};

  const Topology& topology_;
  absl::Span<const PlacementWish> wishes_;
  std::vector<size_t> owner_;  // By GPU: the number of the job.
};

// The switches outside of the server to which its GPUs are linked.
std::vector<NodeId> LeavesOf(const Topology& topology, uint32_t server) {
  std::vector<NodeId> leaves;
  const uint32_t size = topology.gpus_per_server();
  for (uint32_t gpu = server * size; gpu < (server + 1) * size; ++gpu) {
    for (const LinkId link : topology.links_from(NodeId(gpu))) {
      const NodeId next = topology.link(link).target;
      if (topology.kind(next) == NodeKind::kSwitch) leaves.push_back(next);
    }
  }
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

// The free servers `servers`, in turn from each set of servers with the same
// leaves, the sets with the fewest busy servers first.
std::vector<uint32_t> Spread(const Topology& topology,
                             const std::vector<uint32_t>& servers) {
  const std::set<uint32_t> free(servers.begin(), servers.end());
  std::map<std::vector<NodeId>, uint32_t> size_of_set;
  for (uint32_t server = 0; server < topology.num_servers(); ++server) {
    if (free.count(server) > 0) continue;
    ++size_of_set[LeavesOf(topology, server)];
  }
  std::vector<std::pair<uint32_t, uint32_t>> order;  // Turn, server.
  order.reserve(servers.size());
  for (const uint32_t server : servers) {
    order.emplace_back(size_of_set[LeavesOf(topology, server)]++, server);
  }
  std::sort(order.begin(), order.end());
  std::vector<uint32_t> spread;
  spread.reserve(order.size());
  for (const auto& [turn, server] : order) spread.push_back(server);
  return spread;
}

// Source: the shuffle of R. Fisher and F. Yates.
void Shuffle(uint64_t seed, std::vector<uint32_t>& servers) {
  for (size_t i = servers.size(); i > 1; --i) {
    std::swap(servers[i - 1], servers[HashOf(seed, i) % i]);
  }
}

std::vector<uint32_t> InOrderOf(PlacementPolicy policy, uint64_t seed,
                                const Topology& topology,
                                std::vector<uint32_t> servers) {
  if (policy == PlacementPolicy::kSpread) return Spread(topology, servers);
  if (policy == PlacementPolicy::kRandom) Shuffle(seed, servers);
  return servers;
}

// The place of a job on `servers`, of which it takes as many as it needs.
JobPlace PlaceOn(absl::Span<const uint32_t> servers,
                 const std::vector<uint32_t>& local, const Topology& topology) {
  JobPlace place;
  place.gpus_per_server = static_cast<uint32_t>(local.size());
  for (const uint32_t server : servers) {
    for (const uint32_t gpu : local) {
      place.gpus.push_back(server * topology.gpus_per_server() + gpu);
    }
  }
  return place;
}

// The place of a job whose ranks are on given GPUs.
JobPlace PlaceByRank(const PlacementWish& wish, const Topology& topology) {
  const uint32_t size = topology.gpus_per_server();
  const auto other = std::find_if(
      wish.gpu_of_rank.begin(), wish.gpu_of_rank.end(), [&](uint32_t gpu) {
        return gpu / size != wish.gpu_of_rank.front() / size;
      });
  return {wish.gpu_of_rank,
          static_cast<uint32_t>(other - wish.gpu_of_rank.begin())};
}

std::vector<uint32_t> LocalGpusOf(const PlacementWish& wish,
                                  const Topology& topology) {
  std::vector<uint32_t> local = wish.gpus_of_server;
  if (!local.empty()) return local;
  local.resize(topology.gpus_per_server());
  std::iota(local.begin(), local.end(), 0U);
  return local;
}

absl::Status CheckNumbers(const PlacementWish& wish,
                          const std::vector<uint32_t>& local,
                          const Topology& topology) {
  for (const uint32_t server : wish.servers) {
    if (server < topology.num_servers()) continue;
    return ErrorOf(wish, fmt::format("expected servers below {}, not {}",
                                     topology.num_servers(), server));
  }
  const std::set<uint32_t> different(wish.servers.begin(), wish.servers.end());
  if (different.size() < wish.servers.size()) {
    return ErrorOf(wish, "expected no server twice");
  }
  for (const uint32_t gpu : local) {
    if (gpu < topology.gpus_per_server()) continue;
    return ErrorOf(wish,
                   fmt::format("expected GPUs of a server below {}, not {}",
                               topology.gpus_per_server(), gpu));
  }
  return absl::OkStatus();
}

// The place of a job that says where it runs.
absl::StatusOr<JobPlace> PlaceAsAsked(const PlacementWish& wish,
                                      const Topology& topology) {
  JobPlace place;
  if (!wish.gpu_of_rank.empty()) {
    place = PlaceByRank(wish, topology);
  } else {
    const std::vector<uint32_t> local = LocalGpusOf(wish, topology);
    ASTRA_RETURN_IF_ERROR(CheckNumbers(wish, local, topology));
    place = PlaceOn(wish.servers, local, topology);
  }
  if (place.gpus.size() == wish.num_ranks) return place;
  return ErrorOf(wish,
                 fmt::format("its workload has {} ranks, and its place {} GPUs",
                             wish.num_ranks, place.gpus.size()));
}

// The place of a job on the first of `free`, in the order of the policy.
absl::StatusOr<JobPlace> PlaceOnFree(const PlacementWish& wish,
                                     const Topology& topology,
                                     absl::Span<const uint32_t> free) {
  const std::vector<uint32_t> local = LocalGpusOf(wish, topology);
  ASTRA_RETURN_IF_ERROR(CheckNumbers(wish, local, topology));
  if (wish.num_ranks % local.size() != 0) {
    return ErrorOf(wish, fmt::format("its {} ranks do not fill servers of {} "
                                     "GPUs: say which GPUs of each it takes",
                                     wish.num_ranks, local.size()));
  }
  const size_t needed = wish.num_ranks / local.size();
  if (needed > free.size()) {
    return ErrorOf(wish, fmt::format("it needs {} servers, and {} are free",
                                     needed, free.size()));
  }
  return PlaceOn(free.subspan(0, needed), local, topology);
}

}  // namespace

absl::StatusOr<std::vector<JobPlace>> PlaceJobs(
    const Topology& topology, absl::Span<const PlacementWish> wishes,
    PlacementPolicy policy, uint64_t seed) {
  Occupancy occupancy(topology, wishes);
  std::vector<JobPlace> places(wishes.size());
  const auto is_free = [&](const PlacementWish& wish) {
    return wish.servers.empty() && wish.gpu_of_rank.empty();
  };
  for (size_t i = 0; i < wishes.size(); ++i) {
    if (is_free(wishes[i])) continue;
    ASTRA_ASSIGN_OR_RETURN(places[i], PlaceAsAsked(wishes[i], topology));
    ASTRA_RETURN_IF_ERROR(occupancy.Take(i, places[i]));
  }
  for (size_t i = 0; i < wishes.size(); ++i) {
    if (!is_free(wishes[i])) continue;
    const std::vector<uint32_t> free =
        InOrderOf(policy, HashOf(seed, i), topology, occupancy.FreeServers());
    ASTRA_ASSIGN_OR_RETURN(places[i], PlaceOnFree(wishes[i], topology, free));
    ASTRA_RETURN_IF_ERROR(occupancy.Take(i, places[i]));
  }
  return places;
}

}  // namespace astra
