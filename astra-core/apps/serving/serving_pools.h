// A deployment of two pools: where they lie on the cluster, what the steps of
// the decoding pool take, and how KV caches get from one to the other.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_POOLS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_POOLS_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/base/log.h"
#include "astra-core/serving/kv_layout.h"
#include "astra-core/serving/kv_path.h"
#include "topology/routes.h"
#include "topology/topology.h"

namespace astra {

class ServingPools {
 public:
  // Both must outlive the object. Errors: those of ReplicaTimes::Create and of
  // KvLayoutOf; InvalidArgument for a topology with fewer GPUs than the pools,
  // and for pools that overlap.
  static absl::StatusOr<std::unique_ptr<ServingPools>> Create(
      const ServingJob& prefill, const DecodePool& decode, Warnings* warnings);

  ServingPools(const ServingPools&) = delete;
  ServingPools& operator=(const ServingPools&) = delete;

  const PoolPlace& place_of_prefill() const { return from_; }
  const PoolPlace& place_of_decode() const { return to_; }
  Routes& routes() { return routes_; }
  const KvLayout& kv() const { return kv_; }

  // Returns whether the GPUs of both replicas reach one another; status() says
  // why not.
  bool HasRoutes(const KvTransfer& transfer);

  // Returns what RunServing() needs. The object must outlive the run, after
  // which status() tells of errors of transfers.
  DecodeSide Side();
  const absl::Status& status() const { return path_.status(); }

 private:
  ServingPools(const ServingJob& prefill, const DecodePool& decode, KvLayout kv,
               PoolPlace to, Topology topology);

  const DecodePool& decode_;
  const KvLayout kv_;
  const PoolPlace from_;
  const PoolPlace to_;
  const Topology topology_;
  Routes routes_;
  KvPath path_;
  std::unique_ptr<ReplicaTimes> times_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_POOLS_H_
