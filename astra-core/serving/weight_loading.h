// How the weights of replicas get to their GPUs over the network before the
// first step: from a server that holds them, or from the first replica.
//
//   const std::vector<WeightLoad> loads = LoadsFromStorage(places, gpu, 8);
//   ASTRA_ASSIGN_OR_RETURN(const std::vector<TimePs> times,
//                          LoadTimes(loads, routes));  // Closed form.
//
// Model. All replicas begin to load at time 0.
//
//   storage   Each GPU reads its shard from the storage server, over the NIC
//             of the same number in that server.
//   replica   The first replica of the first pool has its weights. A GPU of
//             another one reads its shard from those GPUs that hold it: the
//             weights are a range of bytes, of which the GPUs of each replica
//             hold equal parts in order. Where both replicas are laid out
//             alike, ranks read from the same rank.
//
// Every GPU loads as many bytes as those of the fullest pipeline stage.
//
// Closed form, with all loads at once:
//
//   time = latency + max over links of GPUs of bytes of all loads / rate
//
// and at least as long as each flow takes on its route. Sources: vLLM
// (--load-format runai_streamer) and SGLang (--load-format remote_instance,
// from a seed instance), by their documentation.
//
// Left out: files and disks of the storage, the way from the host's memory to
// the GPU, and what an engine does after loading, such as the capture of CUDA
// graphs.

#ifndef ASTRA_CORE_SERVING_WEIGHT_LOADING_H_
#define ASTRA_CORE_SERVING_WEIGHT_LOADING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/kv_path.h"
#include "topology/routes.h"

namespace astra {

// Replicas of a pool, and what each of their GPUs loads.
struct WeightPlace {
  PoolPlace place;
  Bytes bytes;
};

struct WeightFlow {
  RankId source;
  RankId target;
  Bytes bytes;
};

// What one replica loads; nothing if it has its weights.
using WeightLoad = std::vector<WeightFlow>;

// Return the load of each replica of all pools, in their order.
// `storage_gpu` is the first GPU of the storage server.
std::vector<WeightLoad> LoadsFromStorage(absl::Span<const WeightPlace> pools,
                                         int64_t storage_gpu,
                                         int64_t gpus_per_server);
// Requires a pool.
std::vector<WeightLoad> LoadsFromReplica(absl::Span<const WeightPlace> pools);

// Returns the closed form of each load, if all begin at once. Errors:
// FailedPrecondition if GPUs cannot reach one another.
absl::StatusOr<std::vector<TimePs>> LoadTimes(
    absl::Span<const WeightLoad> loads, Routes& routes);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_WEIGHT_LOADING_H_
