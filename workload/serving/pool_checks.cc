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

// The most positions of a sequence or of its prompt, by the options.
using TokenLimit = int64_t (*)(const SchedulerKind& scheduler,
                               const BatchingOptions& options);

int64_t MaxTokens(const SchedulerKind& scheduler,
                  const BatchingOptions& options) {
  return scheduler.max_tokens(options);
}

// Returns what sets a limit of `pool`: the option that lets longer requests in
// when it grows, or the blocks.
std::string CauseOf(TokenLimit limit, const PoolOptions& pool) {
  const auto helps = [&](int64_t BatchingOptions::*option) {
    BatchingOptions more = pool.options;
    ++(more.*option);
    return limit(*pool.scheduler, more) > limit(*pool.scheduler, pool.options);
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
  const int64_t held = HeldBlocksOf(TokensOfAllBlocks(options), options);
  return fmt::format(
      "{} blocks of {} tokens{}", options.num_blocks, options.block_tokens,
      held == 0 ? ""
                : fmt::format(", of which the longest sequence takes "
                              "{} for windows and states,",
                              held));
}

absl::Status TooLong(const Request& request, int64_t output_tokens,
                     const PoolOptions& pool, TokenLimit limit,
                     std::string_view serves) {
  return absl::InvalidArgumentError(fmt::format(
      "request {} has {} prompt and {} output tokens: a replica of scheduler "
      "{} with {} serves {}",
      request.id, request.prompt_tokens, output_tokens, pool.scheduler->name,
      CauseOf(limit, pool), serves));
}

// Checks that a replica of `pool` can hold the request with `output_tokens`,
// and compute its prompt unless it comes from another pool.
absl::Status CheckFits(const Request& request, int64_t output_tokens,
                       const PoolOptions& pool, bool computes_prompt) {
  const int64_t block = pool.options.block_tokens;
  const int64_t most = MaxTokens(*pool.scheduler, pool.options);
  // Without overflow, whatever the two are.
  if (request.prompt_tokens > most ||
      output_tokens > most - request.prompt_tokens) {
    return TooLong(request, output_tokens, pool, MaxTokens,
                   fmt::format("at most {} in all", most));
  }
  const int64_t prompt = MaxPromptTokens(*pool.scheduler, pool.options);
  if (computes_prompt && request.prompt_tokens > prompt) {
    return TooLong(request, output_tokens, pool, MaxPromptTokens,
                   fmt::format("prompts of at most {}", prompt));
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
    return CheckFits(request, request.output_tokens, options.pool,
                     /*computes_prompt=*/true);
  }
  ASTRA_RETURN_IF_ERROR(
      CheckFits(request, 1, options.pool, /*computes_prompt=*/true));
  return CheckFits(request, request.output_tokens, *options.decode,
                   /*computes_prompt=*/false);
}

}  // namespace astra
