// A deployment of two pools: what the steps of the decoding pool take, and how
// KV caches get from one to the other.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_POOLS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_POOLS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_cluster.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/base/log.h"
#include "astra-core/serving/kv_layout.h"
#include "astra-core/serving/kv_path.h"

namespace astra {

class ServingPools {
 public:
  // `decode` and `cluster`, which has both pools, must outlive the object.
  // Errors: those of ReplicaTimes::Create and of KvLayoutOf.
  static absl::StatusOr<std::unique_ptr<ServingPools>> Create(
      const ServingJob& prefill, const DecodePool& decode,
      ServingCluster& cluster, Warnings* warnings);

  ServingPools(const ServingPools&) = delete;
  ServingPools& operator=(const ServingPools&) = delete;

  const KvLayout& kv() const { return kv_; }

  // Returns how long a transfer takes with nothing else on the network; 0 where
  // the GPUs of both replicas do not reach one another, as status() then says.
  TimePs TimeAlone(const KvTransfer& transfer) {
    return path_.TimeOf(transfer);
  }

  // Returns what RunServing() needs. The object must outlive the run, after
  // which status() tells of errors of transfers.
  DecodeSide Side();
  const absl::Status& status() const { return path_.status(); }

 private:
  ServingPools(const DecodePool& decode, KvLayout kv, ServingCluster& cluster);

  const DecodePool& decode_;
  const KvLayout kv_;
  KvPath path_;
  std::unique_ptr<ReplicaTimes> times_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_POOLS_H_
