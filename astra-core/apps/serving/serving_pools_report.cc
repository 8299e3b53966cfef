#include "astra-core/apps/serving/serving_pools_report.h"

#include <numeric>
#include <string_view>

#include "astra-core/base/append_format.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr std::string_view kPoolNames[] = {"prefill", "decode"};

}  // namespace

std::string BlocksText(const BatchingOptions& options) {
  std::string text =
      fmt::format("{} blocks of {}", options.num_blocks, options.block_tokens);
  const HeldBlocks& held = options.held;
  std::string beside;
  if (held.states > 0) beside = fmt::format("{} for states", held.states);
  if (held.most_windows > 0) {
    AppendFormat(&beside, "{}up to {} for windows",
                 beside.empty() ? "" : " and ", held.most_windows);
  }
  if (beside.empty()) return text;
  return text +
         fmt::format(" (each sequence takes {}, beside those of its positions)",
                     beside);
}

void AddBlocks(int64_t num_blocks, const HeldBlocks& held,
               nlohmann::ordered_json& json) {
  json["num_gpu_blocks"] = num_blocks;
  if (held == HeldBlocks()) return;
  json["blocks_beside_positions"] = {
      {"states", held.states},
      {"windows_per_block", held.windows_per_block},
      {"most_windows", held.most_windows}};
}

std::string LayoutText(const ServingLayout& layout) {
  std::string text = fmt::format("TP {}", layout.tensor);
  if (layout.attention_ranks > 1) {
    AppendFormat(&text, " x {} ranks of attention", layout.attention_ranks);
  }
  if (layout.pipeline > 1) AppendFormat(&text, ", PP {}", layout.pipeline);
  if (layout.expert > 1) AppendFormat(&text, ", EP {}", layout.expert);
  return text;
}

void AppendDecodePool(const DecodePool& pool, std::string* page) {
  const ServingJob& job = pool.job;
  AppendFormat(page,
               "decode     {} of {}, at most {} sequences, {}; KV "
               "caches move {}\n",
               job.replicas == 1 ? std::string("a replica")
                                 : fmt::format("{} replicas", job.replicas),
               LayoutText(job.layout), job.options.max_sequences,
               BlocksText(job.options),
               pool.is_layerwise ? "layer by layer" : "whole");
}

void AppendPoolUse(const ServingRun& run, std::string* page) {
  for (size_t pool = 0; pool < run.pools.size(); ++pool) {
    const PoolUse& use = run.pools[pool];
    AppendFormat(page,
                 "{:<10} {} steps of {:.1f} sequences; cache use {:.1f} % in "
                 "the mean, {:.1f} % at most;",
                 kPoolNames[pool], use.steps, use.batch_mean,
                 100 * use.kv_use_mean, 100 * use.kv_use_peak);
    const double all =
        std::accumulate(use.seconds.begin(), use.seconds.end(), 0.0);
    for (size_t i = 0; i < use.seconds.size() && all > 0; ++i) {
      AppendFormat(page, "{} {:.1f} % {}", i == 0 ? "" : ",",
                   100 * use.seconds[i] / all, kStepBounds[i]);
    }
    *page += "\n";
  }
}

void AddPools(const DecodePool& pool, const ServingRun& run,
              nlohmann::ordered_json& json) {
  const ServingJob& job = pool.job;
  json["decode"] = {{"replicas", job.replicas},
                    {"tp", job.layout.tensor},
                    {"pp", job.layout.pipeline},
                    {"ep", job.layout.expert},
                    {"max_num_batched_tokens", job.options.max_batched_tokens},
                    {"max_num_seqs", job.options.max_sequences}};
  AddBlocks(job.options.num_blocks, job.options.held, json["decode"]);
  json["decode"]["kv_transfer"] = pool.is_layerwise ? "layerwise" : "whole";
  json["decode"]["first_token"] =
      pool.first_token_from_prefill ? "prefill" : "decode";
  for (size_t i = 0; i < run.pools.size(); ++i) {
    const PoolUse& use = run.pools[i];
    nlohmann::ordered_json& entry = json["pools"][std::string(kPoolNames[i])];
    entry = {{"steps", use.steps},
             {"preemptions", use.preemptions},
             {"step_s", use.step_seconds},
             {"kv_use_mean", use.kv_use_mean},
             {"kv_use_peak", use.kv_use_peak},
             {"batch_mean", use.batch_mean}};
    for (size_t bound = 0; bound < use.seconds.size(); ++bound) {
      entry["step_time_s"][std::string(kStepBounds[bound])] =
          use.seconds[bound];
    }
  }
}

}  // namespace astra
