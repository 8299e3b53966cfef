// Options of a deployment that computes prompts and decodes on separate GPUs.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_POOL_OPTIONS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_POOL_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/serving/serving_job.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/serving/cache_memory.h"

namespace astra {

// The pool that decodes, and how it gets the KV caches of prompts.
struct DecodePool {
  ServingJob job;
  // None: the number of blocks was given.
  std::optional<CacheRoom> room = std::nullopt;
  bool is_layerwise = false;  // See workload/serving/kv_transfer.h.
  bool first_token_from_prefill = false;
  // None: behind the pool for prompts.
  std::optional<int64_t> first_gpu = std::nullopt;
};

// With several ranks of data-parallel attention, experts are spread over all of
// their GPUs: sets EP so. `prefix` is that of the options: "" or "decode-".
// Errors: InvalidArgument for another EP that is given.
absl::Status SpreadOverAttentionRanks(const CommandLine& flags,
                                      std::string_view prefix,
                                      ServingLayout& layout);

// Checks that EP divides TP, and that the model can be laid out like this.
// `prefix` is that of the options: "" or "decode-". Errors: InvalidArgument,
// with the nearest TP that is legal.
absl::Status CheckServingLayout(const ServingJob& job, std::string_view prefix);

// Reads the pool that decodes; what is not given is that of `prefill`. None if
// there is no such pool. Errors: InvalidArgument for an option that is wrong or
// has no effect; those of SetCacheBlocks.
absl::StatusOr<std::optional<DecodePool>> ReadDecodePool(
    const CommandLine& flags, const ServingJob& prefill, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_POOL_OPTIONS_H_
