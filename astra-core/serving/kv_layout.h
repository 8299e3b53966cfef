// Where the KV cache of a sequence lies on the GPUs of a replica, and which
// GPUs send what where the cache moves to a replica of another layout.
//
//   ASTRA_ASSIGN_OR_RETURN(const KvLayout kv, KvLayoutOf(model, from, to));
//   Bytes bytes = kv.BytesOf(tokens);             // Of the whole cache.
//   for (const KvFlow& flow : kv.flows) Send(flow.source, flow.share * bytes);
//
// Model. The cache of all layers is cut in two ways: pipeline stages hold
// layers, and the ranks of a TP group hold heads. Of GQA with H heads of keys
// and values, TP ranks hold min(TP, H) different parts, each on TP / min(TP, H)
// ranks; of MLA each rank holds all. For GQA a token thus takes
//
//   2 x layers x H x head_dim x bytes / min(TP, H)      on each TP rank.
//
// Bytes are those of sequence_cache.h, so that windows, hybrid models and
// caches in FP8 count what they keep, and the number of parts is the whole over
// what a rank holds. A receiving rank gets each byte that it holds once, from a
// rank that has it; ranks with copies take turns. Ranks are those of
// ServingLayout: TP ranks next to one another, and stages one after another.
//
// Left out: the part of a hybrid model's state that does not shrink with TP
// while the rest does, and that stages with more windows than others send less
// of a long sequence.

#ifndef ASTRA_CORE_SERVING_KV_LAYOUT_H_
#define ASTRA_CORE_SERVING_KV_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/serving/sequence_cache.h"
#include "astra-core/serving/step_prices.h"
#include "workload/models/model_spec.h"

namespace astra {

struct KvFlow {
  uint32_t source = 0;  // Rank in the replica that computed the prompt.
  uint32_t target = 0;  // Rank in the replica that decodes.
  double share = 0;     // Share of the whole cache, above 0.
};

struct KvLayout {
  SequenceCache cache;  // The whole, as on one GPU.
  int64_t layers = 1;
  std::vector<KvFlow> flows;  // Ordered by target, then by source.

  // Returns the bytes of the cache of `tokens` positions.
  double BytesOf(int64_t tokens) const { return cache.BytesOf(tokens); }
};

// Errors: those of InferenceBlueprint.
absl::StatusOr<KvLayout> KvLayoutOf(const ModelSpec& model,
                                    const ServingLayout& from,
                                    const ServingLayout& to);

}  // namespace astra

#endif  // ASTRA_CORE_SERVING_KV_LAYOUT_H_
