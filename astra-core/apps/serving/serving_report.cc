#include "astra-core/apps/serving/serving_report.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/serving/serving_curve.h"
#include "astra-core/apps/serving/serving_pools_report.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/units.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "workload/serving/serving_tables.h"

namespace astra {
namespace {

constexpr double kMsPerPs = 1e-9;
using Json = nlohmann::ordered_json;

// Returns what both sorts of run.json begin with.
Json DeploymentJson(const SimaiServingOptions& options) {
  const ServingJob& job = options.job;
  Json json = {
      {"name", options.name},
      {"model", job.model.name},
      {"gpu", job.gpu.name},
      {"gpus", options.num_gpus()},
      {"tp", job.layout.tensor},
      {"attention_dp", job.layout.attention_ranks},
      {"pp", job.layout.pipeline},
      {"ep", job.layout.expert},
      {"replicas", job.replicas},
      {"topology", job.topology_file ? Json(*job.topology_file) : Json()},
      {"system", options.system ? Json(*options.system) : Json()},
      {"dtype", job.layout.mxfp4_experts ? std::string_view("mxfp4")
                                         : Name(job.layout.precision)},
      {"engine", fmt::format("{} {}", job.engine.name, job.engine.release)},
      {"scheduler", job.scheduler->name},
      {"max_num_batched_tokens", job.options.max_batched_tokens},
      {"max_num_seqs", job.options.max_sequences}};
  AddBlocks(job.options.num_blocks, job.options.held, json);
  json["block_size"] = job.options.block_tokens;
  const LatencyLimits& limits = options.answers.limits;
  for (const auto& [name, limit] :
       {std::pair{"slo_ttft_ms", limits.to_first_token},
        std::pair{"slo_tpot_ms", limits.per_token},
        std::pair{"slo_e2e_ms", limits.end_to_end}}) {
    if (limit) json[name] = kMsPerPs * static_cast<double>(limit->count());
  }
  return json;
}

void AddMechanics(const ServingJob& job, const ServingSummary& summary,
                  Json& json) {
  if (job.options.host_blocks > 0) {
    json["host_kv_blocks"] = job.options.host_blocks;
    json["host_hit_rate"] = summary.HostHitRate();
  }
  if (job.options.draft_tokens > 0) {
    json["speculative_tokens"] = job.options.draft_tokens;
    json["acceptance_rate"] = job.options.acceptance_rate;
    json["tokens_per_decode"] = summary.TokensPerDecode();
  }
}

void AddSummary(const SimaiServingOptions& options,
                const ServingSummary& summary, Json& json) {
  const auto gpus = static_cast<double>(options.num_gpus());
  json["requests"] = summary.requests;
  json["prompt_tokens"] = summary.prompt_tokens;
  json["output_tokens"] = summary.output_tokens;
  const double output = summary.PerSecond(summary.output_tokens);
  json["output_tokens_per_s"] = output;
  json["output_tokens_per_s_per_gpu"] = output / gpus;
  const std::optional<double> per_user = Interactivity(summary);
  json["output_tokens_per_s_per_user"] = per_user ? Json(*per_user) : Json();
  if (options.answers.limits.any()) {
    json["requests_within_limits"] = summary.requests_within_limits;
    json["share_within_limits"] = summary.ShareWithinLimits();
    json["goodput_requests_per_s"] =
        summary.PerSecond(summary.requests_within_limits);
    json["goodput_tokens_per_s_per_gpu"] =
        summary.PerSecond(summary.output_tokens_within_limits) / gpus;
  }
  json["preemptions"] = summary.preemptions;
  json["prefix_hit_rate"] = summary.PrefixHitRate();
  json["kv_use_mean"] = summary.kv_use_mean;
  json["kv_use_peak"] = summary.kv_use_peak;
  json["steps"] = summary.steps;
  AddMechanics(options.job, summary, json);
}

// Appends what the cache and the steps were used for.
void AppendUse(const SimaiServingOptions& options, const ServingRun& run,
               std::string* page) {
  const ServingSummary& summary = run.summary;
  AppendFormat(page,
               "\ncache use  {:.1f} % in the mean, {:.1f} % at most; {} "
               "preemptions; {:.1f} % of prompts found",
               100 * summary.kv_use_mean, 100 * summary.kv_use_peak,
               summary.preemptions, 100 * summary.PrefixHitRate());
  if (options.job.options.host_blocks > 0) {
    AppendFormat(page, ", {:.1f} % in the host's {} blocks",
                 100 * summary.HostHitRate(), options.job.options.host_blocks);
  }
  *page += "\n";
  if (options.job.options.draft_tokens > 0) {
    AppendFormat(page,
                 "drafts     {} verified at a time, {:.3f} tokens for each "
                 "step of a sequence\n",
                 options.job.options.draft_tokens, summary.TokensPerDecode());
  }
  AppendFormat(page, "steps      {} of {:.1f} sequences, whose time is",
               summary.steps, summary.batch_mean);
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    AppendFormat(page, "{} {:.1f} % {}", i == 0 ? "" : ",",
                 100 * run.seconds[i] / run.busy_seconds(), kStepBounds[i]);
  }
}

void AppendGoodput(const SimaiServingOptions& options,
                   const ServingSummary& summary, std::string* page) {
  const double tokens = summary.PerSecond(summary.output_tokens_within_limits);
  AppendFormat(page,
               "goodput    {:.1f} % of requests within {}: {:.3f} requests/s, "
               "{:.1f} tokens/s for each GPU\n",
               100 * summary.ShareWithinLimits(),
               DescribeLimits(options.answers.limits),
               summary.PerSecond(summary.requests_within_limits),
               tokens / static_cast<double>(options.num_gpus()));
}

}  // namespace

std::vector<NamedFigures> FiguresIn(const ServingSummary& summary) {
  std::vector<NamedFigures> figures = {
      {"queueing", "", summary.queueing},
      {"ttft", "time to the first token", summary.ttft},
      {"tpot", "(e2e - ttft) / (tokens - 1)", summary.tpot},
      {"e2e/tokens", "which some benchmarks call TPOT", summary.normalized_e2e},
      {"itl", "gap between two tokens", summary.itl},
      {"e2e", "", summary.e2e}};
  if (summary.kv_transfers > 0) {
    figures.push_back({"kv transfer", "from the prompt's end to the other pool",
                       summary.kv_transfer});
  }
  return figures;
}

std::string DescribeLimits(const LatencyLimits& limits) {
  std::string text;
  for (const auto& [name, limit] : {std::pair{"ttft", limits.to_first_token},
                                    std::pair{"tpot", limits.per_token},
                                    std::pair{"e2e", limits.end_to_end}}) {
    if (!limit) continue;
    AppendFormat(&text, "{}{} {:g} ms", text.empty() ? "" : ", ", name,
                 kMsPerPs * static_cast<double>(limit->count()));
  }
  return text;
}

std::string DescribeDeployment(const SimaiServingOptions& options) {
  std::string page;
  const ServingJob& job = options.job;
  AppendFormat(&page, "{} on {} {}: {} of {}, {} {}, scheduler {}\n",
               job.model.name, options.num_gpus(), job.gpu.name,
               job.replicas == 1 ? std::string("a replica")
                                 : fmt::format("{} replicas", job.replicas),
               LayoutText(job.layout), job.engine.name, job.engine.release,
               job.scheduler->name);
  AppendFormat(&page, "step       at most {} positions, {} sequences\n",
               job.options.max_batched_tokens, job.options.max_sequences);
  AppendFormat(&page, "cache      {}", BlocksText(job.options));
  if (options.room) {
    AppendFormat(&page,
                 ", beside {:.2f} GiB of weights and {:.2f} GiB of workspace "
                 "on a GPU",
                 ToGib(options.room->weights), ToGib(options.room->workspace));
  }
  page += "\n";
  if (options.decode) AppendDecodePool(*options.decode, &page);
  return page;
}

std::string DescribeOutput(const SimaiServingOptions& options,
                           const ServingSummary& summary) {
  const double output = summary.PerSecond(summary.output_tokens);
  std::string text =
      fmt::format("{:.1f} tokens/s, {:.1f} for each GPU", output,
                  output / static_cast<double>(options.num_gpus()));
  if (const std::optional<double> per_user = Interactivity(summary)) {
    AppendFormat(&text, ", {:.1f} for each user", *per_user);
  }
  return text;
}

std::string DescribeServing(const SimaiServingOptions& options,
                            const ServingRun& run, const ServingSetup* setup) {
  const ServingSummary& summary = run.summary;
  std::string page = DescribeDeployment(options);
  AppendFormat(&page,
               "served     {} requests of {} prompt and {} output tokens in "
               "{:.3f} s\n",
               summary.requests, summary.prompt_tokens, summary.output_tokens,
               ToSeconds(summary.last_token - summary.first_arrival));
  AppendFormat(&page, "output     {}\n\n", DescribeOutput(options, summary));
  AppendFormat(&page, "{:<10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "ms",
               "mean", "p50", "p90", "p95", "p99");
  for (const NamedFigures& named : FiguresIn(summary)) {
    const TimeFigures& f = named.figures;
    std::string line = fmt::format("{:<10}", named.name);
    for (const double time : {f.mean, f.p50, f.p90, f.p95, f.p99}) {
      AppendFormat(&line, " {:>10}",
                   f.count == 0 ? std::string("-")
                                : fmt::format("{:.3f}", kMsPerPs * time));
    }
    AppendFormat(&line, "  {}", named.meaning);
    line.erase(line.find_last_not_of(' ') + 1);
    page += line + "\n";
  }
  AppendUse(options, run, &page);
  page += "\n";
  if (options.decode) AppendPoolUse(run, &page);
  if (run.limits.any()) AppendGoodput(options, summary, &page);
  if (setup != nullptr) setup->Describe(&page);
  return page;
}

std::string ServingResult(const ServingRun& run) {
  const ServingSummary& s = run.summary;
  std::string text = fmt::format("ttft {:.1f} ms", kMsPerPs * s.ttft.mean);
  if (s.tpot.count > 0) {
    AppendFormat(&text, ", tpot {:.2f} ms", kMsPerPs * s.tpot.mean);
  }
  AppendFormat(&text, ", {:.1f} output tokens/s", s.PerSecond(s.output_tokens));
  return text;
}

std::string ServingMetricsCsv(const SimaiServingOptions& options,
                              const ServingRun& run) {
  const ServingSummary& summary = run.summary;
  std::string csv = MetricsCsv(summary);
  const auto add = [&csv](std::string_view name, std::string_view unit,
                          double value) {
    AppendFormat(&csv, "{},{},{:.6f}\n", name, unit, value);
  };
  const auto gpus = static_cast<double>(options.num_gpus());
  AppendFormat(&csv, "gpus,,{}\n", options.num_gpus());
  add("output_token_rate_per_gpu", "1/s",
      summary.PerSecond(summary.output_tokens) / gpus);
  if (const std::optional<double> per_user = Interactivity(summary)) {
    add("output_token_rate_per_user", "1/s", *per_user);
  } else {
    csv += "output_token_rate_per_user,1/s,\n";
  }
  add("goodput_token_rate_per_gpu", "1/s",
      summary.PerSecond(summary.output_tokens_within_limits) / gpus);
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    add(fmt::format("step_{}", kStepBounds[i]), "s", run.seconds[i]);
  }
  return csv;
}

std::string ServingRunJson(const SimaiServingOptions& options,
                           const ServingRun& run, const ServingSetup* setup) {
  Json json = DeploymentJson(options);
  AddSummary(options, run.summary, json);
  for (const NamedFigures& named : FiguresIn(run.summary)) {
    std::string key(named.name == "e2e/tokens" ? "normalized_e2e" : named.name);
    std::replace(key.begin(), key.end(), ' ', '_');
    const TimeFigures& f = named.figures;
    json[key + "_ms"] = nullptr;
    if (f.count == 0) continue;
    json[key + "_ms"] = {
        {"mean", kMsPerPs * f.mean}, {"p50", kMsPerPs * f.p50},
        {"p90", kMsPerPs * f.p90},   {"p95", kMsPerPs * f.p95},
        {"p99", kMsPerPs * f.p99},   {"max", kMsPerPs * f.max}};
  }
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    json["step_time_s"][std::string(kStepBounds[i])] = run.seconds[i];
  }
  if (options.decode) AddPools(*options.decode, run, json);
  if (setup != nullptr) setup->AddTo(json);
  return json.dump(2) + "\n";
}

std::string ServingCurveJson(const SimaiServingOptions& options) {
  Json json = DeploymentJson(options);
  for (const LoadPoint& point : options.points) {
    if (point.in_flight > 0) {
      json["concurrency"].push_back(point.in_flight);
    } else {
      json["rate_per_s"].push_back(point.rate);
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace astra
