// Moves the KV caches of prompts from the pool that computes them to the pool
// that decodes.
//
//   options.transfer = [&](const KvTransfer& transfer) {
//     return TimePs(transfer.share * transfer.tokens * ps_per_token);
//   };
//
// Model. A cache moves in one of two ways:
//
// - whole: all of it, once the prompt has been computed;
// - layerwise: each step of a prompt sends what it computes layer by layer.
//   Of L layers, the first L - 1 form one transfer, which begins when the first
//   layer is ready, step / L after the step began. The last layer is another
//   one, which begins when the step ends. A network that is faster than the
//   computation thus hides all but the last layer; behind a slower one, the
//   rest queues. Between the two, the first L - 1 layers occupy the network
//   earlier than real ones do, which are ready one after the other.
//
// Transfers of one request follow one another. The replica that decodes is
// chosen when the first of them begins, and counts the request as its own from
// then on. Positions that the sender had in its prefix index move with the
// first step.
//
// Sources: Mooncake (FAST 2025) for layerwise transfers; SGLang and vLLM
// (NIXL) for whole ones, by their documentation.

#ifndef WORKLOAD_SERVING_KV_TRANSFER_H_
#define WORKLOAD_SERVING_KV_TRANSFER_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "astra-core/base/units.h"

namespace astra {

struct Sequence;

struct KvTransfer {
  // Number of the transfer among those under way; reused when it has ended.
  uint32_t id = 0;
  uint32_t source = 0;  // Index of the replica in the first pool.
  uint32_t target = 0;  // Index of the replica in the decode pool.
  int64_t tokens = 0;   // Positions of the cache.
  double share = 1;     // Share of the layers of these positions.
};

// Starts a transfer at the present instant. Returns how long it takes; none if
// the caller of ServingProcess says when it has ended.
using StartKvTransfer = std::function<std::optional<TimePs>(const KvTransfer&)>;

// What a sequence has sent of its cache.
struct KvProgress {
  int64_t sent = 0;         // Positions that have left, or are leaving.
  int64_t under_way = 0;    // Transfers that have not ended.
  uint32_t target = 0;      // Index of the replica in the decode pool.
  TimePs free_at;           // End of the last transfer of a known time.
  bool has_target = false;  // Whether `target` has been chosen.
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_KV_TRANSFER_H_
