#include "astra-core/apps/serving/serving_pool_options.h"

#include <cmath>
#include <string>

#include "astra-core/apps/serving/cache_blocks.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/option_reading.h"
#include "astra-core/serving/step_prices.h"
#include "fmt/core.h"
#include "workload/generator/inference.h"

namespace astra {
namespace {

constexpr std::string_view kPoolOptions[] = {
    "decode-tp",           "decode-pp",
    "decode-ep",           "decode-attention-dp",
    "decode-router",       "decode-max-num-batched-tokens",
    "decode-max-num-seqs", "decode-num-gpu-blocks",
    "decode-first-gpu",    "kv-transfer",
    "first-token"};

// Returns `status` with the nearest TP that is legal, if there is one.
absl::Status WithNearestTensor(const absl::Status& status,
                               const ServingJob& job, std::string_view prefix) {
  constexpr int64_t kFarthest = 128;
  for (int64_t distance = 1; distance <= kFarthest; ++distance) {
    for (const int64_t sign : {-1, 1}) {
      ServingLayout layout = job.layout;
      layout.tensor += sign * distance;
      if (layout.attention_ranks > 1) {
        layout.expert = layout.tensor * layout.attention_ranks;
      }
      if (layout.tensor < 1) continue;
      if (layout.tensor * layout.attention_ranks % layout.expert != 0) continue;
      if (!InferenceBlueprint(job.model, SetupOf(layout)).ok()) continue;
      return absl::InvalidArgumentError(
          fmt::format("{}{}; the nearest --{}tp is {}", kIllegalLayout,
                      std::string(status.message()), prefix, layout.tensor));
    }
  }
  return status;
}

absl::Status ReadDecodeJob(const CommandLine& flags, ServingJob& job) {
  // The layout of the other pool holds where none of this pool is given.
  const IntegerOption sizes[] = {
      {"decode-replicas", &job.replicas, kMostCount},
      {"decode-tp", &job.layout.tensor, kMostCount},
      {"decode-pp", &job.layout.pipeline, kMostCount},
      {"decode-ep", &job.layout.expert, kMostCount},
      {"decode-attention-dp", &job.layout.attention_ranks, kMostCount},
      {"decode-max-num-batched-tokens", &job.options.max_batched_tokens,
       kMostCount},
      {"decode-max-num-seqs", &job.options.max_sequences, kMostCount},
      {"decode-num-gpu-blocks", &job.options.num_blocks, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  job.options.chunk_tokens = job.options.max_batched_tokens;
  if (!job.model.experts) {
    constexpr std::string_view kOfExperts[] = {"decode-ep",
                                               "decode-attention-dp"};
    ASTRA_RETURN_IF_ERROR(Refuse(
        flags, kOfExperts, fmt::format("{} has no experts", job.model.name)));
  }
  ASTRA_RETURN_IF_ERROR(SpreadOverAttentionRanks(flags, "decode-", job.layout));
  ASTRA_RETURN_IF_ERROR(CheckServingLayout(job, "decode-"));
  ASTRA_RETURN_IF_ERROR(CheckAttentionRanks(job, "decode-"));
  if (!flags.has("decode-router")) return absl::OkStatus();
  constexpr std::string_view kRouter[] = {"decode-router"};
  if (job.replicas * job.layout.attention_ranks == 1) {
    return Refuse(flags, kRouter, "1 replica decodes");
  }
  ASTRA_ASSIGN_OR_RETURN(job.router, FindRouter(*flags.value("decode-router")));
  return absl::OkStatus();
}

absl::Status ReadHandover(const CommandLine& flags, DecodePool& pool) {
  constexpr std::string_view kTransfers[] = {"whole", "layerwise"};
  ASTRA_ASSIGN_OR_RETURN(const size_t transfer,
                         Choice(flags, "kv-transfer", 0, kTransfers));
  pool.is_layerwise = transfer == 1;
  constexpr std::string_view kPools[] = {"decode", "prefill"};
  ASTRA_ASSIGN_OR_RETURN(const size_t first,
                         Choice(flags, "first-token", 0, kPools));
  pool.first_token_from_prefill = first == 1;
  if (!flags.has("decode-first-gpu")) return absl::OkStatus();
  if (!flags.has("topology")) {
    constexpr std::string_view kPlace[] = {"decode-first-gpu"};
    return Refuse(flags, kPlace, "there is no --topology");
  }
  int64_t gpu = 0;
  const IntegerOption place[] = {{"decode-first-gpu", &gpu, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, place));
  pool.first_gpu = gpu;
  return absl::OkStatus();
}

}  // namespace

absl::Status SpreadOverAttentionRanks(const CommandLine& flags,
                                      std::string_view prefix,
                                      ServingLayout& layout) {
  if (layout.attention_ranks == 1) return absl::OkStatus();
  const int64_t gpus = layout.tensor * layout.attention_ranks;
  if (flags.has(fmt::format("{}ep", prefix)) && layout.expert != gpus) {
    return absl::InvalidArgumentError(fmt::format(
        "--{0}ep is {1}: expected {2}, since --{0}attention-dp spreads the "
        "experts over --{0}tp {3} x {4} GPUs",
        prefix, layout.expert, gpus, layout.tensor, layout.attention_ranks));
  }
  layout.expert = gpus;
  return absl::OkStatus();
}

absl::Status CheckServingLayout(const ServingJob& job,
                                std::string_view prefix) {
  if (job.layout.attention_ranks == 1 &&
      job.layout.tensor % job.layout.expert != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "--{0}ep {1} does not divide --{0}tp {2}: expected a divisor, such "
        "as {2}",
        prefix, job.layout.expert, job.layout.tensor));
  }
  const absl::Status legal =
      InferenceBlueprint(job.model, SetupOf(job.layout)).status();
  return legal.ok() ? legal : WithNearestTensor(legal, job, prefix);
}

absl::StatusOr<std::optional<DecodePool>> ReadDecodePool(
    const CommandLine& flags, const ServingJob& prefill, Warnings* warnings) {
  if (!flags.has("decode-replicas")) {
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kPoolOptions, "there is no --decode-replicas"));
    return std::optional<DecodePool>();
  }
  DecodePool pool{.job = prefill};
  ServingJob& job = pool.job;
  job.router = nullptr;
  job.options.num_blocks = 0;
  ASTRA_RETURN_IF_ERROR(ReadDecodeJob(flags, job));
  ASTRA_RETURN_IF_ERROR(ReadHandover(flags, pool));
  ASTRA_ASSIGN_OR_RETURN(
      pool.room, SetCacheBlocks("decode-num-gpu-blocks", job, warnings));
  return std::optional<DecodePool>(std::move(pool));
}

}  // namespace astra
