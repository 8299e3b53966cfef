#include "workload/serving/pool_checks.h"

#include <string>
#include <string_view>

#include "astra-core/base/check.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Checks the options of the pool that is called `name`.
absl::Status CheckPool(const PoolOptions& pool, std::string_view name) {
  ASTRA_CHECK(pool.scheduler != nullptr && pool.cost != nullptr,
              "{} has no scheduler or no cost", name);
  if (pool.replicas < 1 || pool.ranks < 1 || pool.replicas > kMaxReplicas ||
      pool.ranks > kMaxReplicas / pool.replicas) {
    return FieldError(
        name, fmt::format("{} replicas of {} ranks: expected 1 to {} in all",
                          pool.replicas, pool.ranks, kMaxReplicas));
  }
  if (pool.steps_under_way < 1 || pool.steps_under_way > kMaxReplicas) {
    return FieldError(name, fmt::format("{} steps under way: expected 1 to {}",
                                        pool.steps_under_way, kMaxReplicas));
  }
  return CheckBatchingOptions(pool.options);
}

// Returns what limits the tokens of a request in `pool`: the option that lets
// longer ones in when it grows, or the blocks.
std::string LimitOf(const PoolOptions& pool) {
  const auto helps = [&pool](int64_t BatchingOptions::*option) {
    BatchingOptions more = pool.options;
    ++(more.*option);
    return pool.scheduler->max_tokens(more) >
           pool.scheduler->max_tokens(pool.options);
  };
  const BatchingOptions& options = pool.options;
  if (helps(&BatchingOptions::max_batched_tokens)) {
    return fmt::format("steps of at most {} tokens (max_batched_tokens)",
                       options.max_batched_tokens);
  }
  if (helps(&BatchingOptions::max_sequence_tokens)) {
    return fmt::format("sequences of at most {} tokens (max_sequence_tokens)",
                       options.max_sequence_tokens);
  }
  return fmt::format("{} blocks of {} tokens", options.num_blocks,
                     options.block_tokens);
}

// Checks that a replica of `pool` can hold the request with `output_tokens`.
absl::Status CheckFits(const Request& request, int64_t output_tokens,
                       const PoolOptions& pool) {
  const int64_t limit = pool.scheduler->max_tokens(pool.options);
  const int64_t block = pool.options.block_tokens;
  // Without overflow, whatever the two are.
  if (request.prompt_tokens > limit ||
      output_tokens > limit - request.prompt_tokens) {
    return absl::InvalidArgumentError(fmt::format(
        "request {} has {} prompt and {} output tokens: a replica of scheduler "
        "{} with {} serves at most {} in all",
        request.id, request.prompt_tokens, output_tokens, pool.scheduler->name,
        LimitOf(pool), limit));
  }
  const int64_t hashed = request.prefix.block_tokens;
  if (pool.options.prefix_caching && !request.prefix.hashes.empty() &&
      (hashed <= 0 || hashed % block != 0)) {
    return absl::InvalidArgumentError(fmt::format(
        "block_tokens is {}: expected a divisor of {}, the tokens of a hashed "
        "block of request {}",
        block, hashed, request.id));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckServingOptions(const ServingOptions& options) {
  if (options.in_flight < 0) {
    return FieldError(
        "in_flight",
        fmt::format("in_flight is {}: expected 0 or more", options.in_flight));
  }
  if (options.entry_delay < TimePs(0)) {
    return FieldError("entry_delay", "entry_delay is below 0");
  }
  ASTRA_RETURN_IF_ERROR(CheckPool(options.pool, "pool"));
  if (!options.decode.has_value()) return absl::OkStatus();
  return CheckPool(*options.decode, "decode");
}

absl::Status CheckRequest(const Request& request,
                          const ServingOptions& options) {
  if (request.prompt_tokens < 1 || request.output_tokens < 1) {
    return absl::InvalidArgumentError(fmt::format(
        "request {} has {} prompt and {} output tokens: expected 1 or more",
        request.id, request.prompt_tokens, request.output_tokens));
  }
  if (!options.decode.has_value()) {
    return CheckFits(request, request.output_tokens, options.pool);
  }
  ASTRA_RETURN_IF_ERROR(CheckFits(request, 1, options.pool));
  return CheckFits(request, request.output_tokens, *options.decode);
}

}  // namespace astra
