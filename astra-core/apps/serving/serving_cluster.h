// The cluster on which a deployment serves, and which of its GPUs do what.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_CLUSTER_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/serving/kv_path.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

// A server whose NICs send weights to replicas.
struct StorageServer {
  std::optional<int64_t> first_gpu;  // None: the first server behind the pools.
};

// Returns how many GPUs a deployment takes on servers of `gpus_per_server`,
// with those that lie idle between its pools and on its last server. A
// deployment that a server has room for takes only a part of it. The other
// arguments are those of ServingCluster::Create().
int64_t GpusOfDeployment(const ServingJob& job, const DecodePool* decode,
                         const StorageServer* storage, int64_t gpus_per_server);

class ServingCluster {
 public:
  // Lays the replicas of `job` and, if there is one, of the pool that decodes
  // on the topology of `job`, or without it on servers of its system below one
  // switch. `storage`: null without a storage server. Errors: those of the
  // readers; InvalidArgument for a topology with too few GPUs, and for pools
  // and storage that overlap.
  static absl::StatusOr<std::unique_ptr<ServingCluster>> Create(
      const ServingJob& job, const DecodePool* decode,
      const StorageServer* storage = nullptr);

  ServingCluster(const ServingCluster&) = delete;
  ServingCluster& operator=(const ServingCluster&) = delete;

  // Returns the pools in their order: one, or that for prompts and that which
  // decodes.
  const std::vector<PoolPlace>& pools() const { return pools_; }
  // Returns the first GPU of the storage server, if there is one.
  std::optional<int64_t> storage_gpu() const { return storage_gpu_; }
  // Returns the GPU behind all that serve or store.
  int64_t end() const;

  const Topology& topology() const { return topology_; }
  Routes& routes() { return routes_; }

  // Checks that GPUs `first` to `end` - 1, of which `who` tells, are none of
  // those that serve or store. `option` says how to move them.
  absl::Status CheckFree(int64_t first, int64_t end, std::string_view who,
                         std::string_view option) const;

 private:
  ServingCluster(Topology topology, std::vector<PoolPlace> pools);

  const Topology topology_;
  const std::vector<PoolPlace> pools_;
  Routes routes_;
  std::optional<int64_t> storage_gpu_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_CLUSTER_H_
