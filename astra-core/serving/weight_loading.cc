#include "astra-core/serving/weight_loading.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "astra-core/base/status_macros.h"

namespace astra {
namespace {

RankId GpuOf(const PoolPlace& place, int64_t replica, int64_t rank) {
  return RankId(static_cast<uint32_t>(place.first_gpu +
                                      replica * place.gpus_per_replica + rank));
}

// Adds what GPU `rank` of a replica of `target` reads from the first replica of
// `source`. The weights are source_gpus x target_gpus parts, of which each GPU
// holds equally many that follow one another.
void AddFlows(const WeightPlace& source, const WeightPlace& target,
              int64_t replica, int64_t rank, WeightLoad& load) {
  const int64_t sources = source.place.gpus_per_replica;
  const int64_t targets = target.place.gpus_per_replica;
  const int64_t begin = rank * sources;
  const int64_t end = begin + sources;
  for (int64_t from = begin / targets; from * targets < end; ++from) {
    const int64_t parts =
        std::min(end, (from + 1) * targets) - std::max(begin, from * targets);
    const double share =
        static_cast<double>(parts) / static_cast<double>(sources);
    load.push_back(
        {GpuOf(source.place, 0, from), GpuOf(target.place, replica, rank),
         Bytes(
             std::llround(share * static_cast<double>(target.bytes.count())))});
  }
}

}  // namespace

std::vector<WeightLoad> LoadsFromStorage(absl::Span<const WeightPlace> pools,
                                         int64_t storage_gpu,
                                         int64_t gpus_per_server) {
  std::vector<WeightLoad> loads;
  for (const WeightPlace& pool : pools) {
    for (int64_t replica = 0; replica < pool.place.replicas; ++replica) {
      WeightLoad& load = loads.emplace_back();
      for (int64_t rank = 0; rank < pool.place.gpus_per_replica; ++rank) {
        const RankId gpu = GpuOf(pool.place, replica, rank);
        const auto nic =
            static_cast<uint32_t>(storage_gpu + gpu.index() % gpus_per_server);
        load.push_back({RankId(nic), gpu, pool.bytes});
      }
    }
  }
  return loads;
}

std::vector<WeightLoad> LoadsFromReplica(absl::Span<const WeightPlace> pools) {
  std::vector<WeightLoad> loads;
  for (const WeightPlace& pool : pools) {
    for (int64_t replica = 0; replica < pool.place.replicas; ++replica) {
      loads.emplace_back();
      if (loads.size() == 1) continue;  // It has its weights.
      for (int64_t rank = 0; rank < pool.place.gpus_per_replica; ++rank) {
        AddFlows(pools.front(), pool, replica, rank, loads.back());
      }
    }
  }
  return loads;
}

absl::StatusOr<std::vector<TimePs>> LoadTimes(
    absl::Span<const WeightLoad> loads, Routes& routes) {
  constexpr double kBitsPerByte = 8;
  const Topology& topology = routes.topology();
  std::map<LinkId, double> bytes_on;
  const auto links_of = [](const Route& route) {
    LinkShares links = route.first;
    links.insert(links.end(), route.last.begin(), route.last.end());
    return links;
  };
  for (const WeightLoad& load : loads) {
    for (const WeightFlow& flow : load) {
      ASTRA_ASSIGN_OR_RETURN(const Route route,
                             routes.Find(flow.source, flow.target));
      for (const LinkShare& link : links_of(route)) {
        bytes_on[link.link] +=
            link.share * static_cast<double>(flow.bytes.count());
      }
    }
  }
  const auto seconds = [](double bytes, Bandwidth rate) {
    return bytes * kBitsPerByte / static_cast<double>(rate.count());
  };
  std::vector<TimePs> times;
  for (const WeightLoad& load : loads) {
    TimePs latency;
    double longest = 0;
    for (const WeightFlow& flow : load) {
      ASTRA_ASSIGN_OR_RETURN(const Route route,
                             routes.Find(flow.source, flow.target));
      latency = std::max(latency, route.latency);
      longest =
          std::max(longest, seconds(static_cast<double>(flow.bytes.count()),
                                    routes.BottleneckBandwidth(route)));
      for (const LinkShare& link : links_of(route)) {
        longest = std::max(
            longest,
            seconds(bytes_on[link.link], topology.type(link.link).bandwidth));
      }
    }
    times.push_back(latency + TimePs(std::llround(longest * kPsPerSecond)));
  }
  return times;
}

}  // namespace astra
