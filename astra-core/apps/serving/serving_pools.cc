#include "astra-core/apps/serving/serving_pools.h"

#include <utility>

#include "astra-core/base/status_macros.h"

namespace astra {

ServingPools::ServingPools(const DecodePool& decode, KvLayout kv,
                           ServingCluster& cluster)
    : decode_(decode),
      kv_(std::move(kv)),
      path_(kv_, cluster.pools()[0], cluster.pools()[1], cluster.routes()) {}

absl::StatusOr<std::unique_ptr<ServingPools>> ServingPools::Create(
    const ServingJob& prefill, const DecodePool& decode,
    ServingCluster& cluster, Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(KvLayout kv, KvLayoutOf(prefill.model, prefill.layout,
                                                 decode.job.layout));
  std::unique_ptr<ServingPools> pools(
      new ServingPools(decode, std::move(kv), cluster));
  ASTRA_ASSIGN_OR_RETURN(pools->times_,
                         ReplicaTimes::Create(decode.job, warnings));
  return pools;
}

DecodeSide ServingPools::Side() {
  DecodeSide side{.job = decode_.job, .times = *times_};
  side.transfer = [this](const KvTransfer& transfer) {
    return path_.TimeOf(transfer);
  };
  if (decode_.is_layerwise) side.transfer_layers = kv_.layers;
  side.first_token_from_decode = !decode_.first_token_from_prefill;
  return side;
}

}  // namespace astra
