// How long a KV cache moves from one replica to another on a cluster with
// nothing else on its network.
//
//   KvPath path(kv, prefill, decode, routes);
//   TimePs time = path.TimeOf(transfer);
//   ASTRA_RETURN_IF_ERROR(path.status());
//
// Model. All flows of KvLayout begin at once, and the transfer ends with the
// last. Each takes the rate of its route: NVLink within a server, NICs and the
// fabric between servers. Flows of one GPU share its link, so that
//
//   time = latency + max over flows and GPUs' links of bytes / rate
//
// with the largest latency of any route. Headers of packets are left out, and
// so are links of a fabric that several flows of the transfer share. Other
// transfers at the same time are left out: fabric/serving_fabric.h has them.

#ifndef ASTRA_CORE_SERVING_KV_PATH_H_
#define ASTRA_CORE_SERVING_KV_PATH_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/serving/kv_layout.h"
#include "topology/routes.h"
#include "workload/serving/kv_transfer.h"

namespace astra {

// GPUs of a pool: its replicas, one after another. On each pipeline stage lie
// the TP ranks of each rank of data-parallel attention; queues and caches are
// those of such a rank, which counts as a replica of its own.
struct PoolPlace {
  int64_t first_gpu = 0;
  int64_t gpus_per_replica = 1;
  int64_t replicas = 1;
  int64_t attention_ranks = 1;
  int64_t tensor = 1;

  int64_t end() const { return first_gpu + gpus_per_replica * replicas; }
  // Returns the GPU of `rank`, counted as in KvFlow.
  RankId GpuOf(uint32_t replica, uint32_t rank) const {
    const int64_t stage = rank / tensor;
    const int64_t attention = replica % attention_ranks;
    return RankId(static_cast<uint32_t>(
        first_gpu + replica / attention_ranks * gpus_per_replica +
        (stage * attention_ranks + attention) * tensor + rank % tensor));
  }
};

class KvPath {
 public:
  // `kv` and `routes` must outlive the object. Requires that the topology has
  // the GPUs of both places.
  KvPath(const KvLayout& kv, const PoolPlace& from, const PoolPlace& to,
         Routes& routes)
      : kv_(kv), from_(from), to_(to), routes_(routes) {}

  // Returns the time of a transfer; 0 after an error.
  TimePs TimeOf(const KvTransfer& transfer);

  // Returns the first error: FailedPrecondition if GPUs cannot reach one
  // another.
  const absl::Status& status() const { return status_; }

 private:
  struct Pace {
    TimePs latency;
    double seconds_per_byte = 0;  // Of the whole cache.
  };

  const Pace& PaceOf(uint32_t source, uint32_t target);
  absl::Status FindPace(uint32_t source, uint32_t target, Pace& pace);

  const KvLayout& kv_;
  const PoolPlace from_;
  const PoolPlace to_;
  Routes& routes_;
  std::map<std::pair<uint32_t, uint32_t>, Pace> paces_;
  absl::Status status_;
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_KV_PATH_H_
