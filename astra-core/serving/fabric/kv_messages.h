// Moves KV caches as messages on the network that serving shares.
//
//   KvMessages caches(fabric, kv, prefill, decode);
//   options.transfer = [&](const KvTransfer& t) { return caches.Start(t); };
//
// Model. A transfer is one message for each flow of KvLayout, all of which are
// sent when it begins; it ends when the last arrives, but takes no less than
// `least`: some networks share only the ports of senders.

#ifndef ASTRA_CORE_SERVING_FABRIC_KV_MESSAGES_H_
#define ASTRA_CORE_SERVING_FABRIC_KV_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "astra-core/base/units.h"
#include "astra-core/serving/fabric/serving_fabric.h"
#include "astra-core/serving/kv_layout.h"
#include "astra-core/serving/kv_path.h"
#include "workload/serving/kv_transfer.h"

namespace astra {

class KvMessages {
 public:
  // `fabric` and `kv` must outlive the object.
  KvMessages(ServingFabric& fabric, const KvLayout& kv, const PoolPlace& from,
             const PoolPlace& to)
      : fabric_(fabric), kv_(kv), from_(from), to_(to) {}

  // Starts a transfer at the present instant of the network; see
  // StartKvTransfer.
  std::optional<TimePs> Start(const KvTransfer& transfer,
                              TimePs least = TimePs(0));

  int64_t bytes_sent() const { return bytes_sent_; }

 private:
  ServingFabric& fabric_;
  const KvLayout& kv_;
  const PoolPlace from_;
  const PoolPlace to_;
  int64_t bytes_sent_ = 0;
  std::vector<FabricMessage> messages_;  // Kept for its memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_FABRIC_KV_MESSAGES_H_
