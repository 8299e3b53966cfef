#include "astra-core/apps/serving/serving_report.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/serving/serving_pools_report.h"
#include "astra-core/base/append_format.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr double kMsPerPs = 1e-9;
constexpr double kBytesPerGib = 1 << 30;

double Gib(Bytes bytes) {
  return static_cast<double>(bytes.count()) / kBytesPerGib;
}

struct NamedFigures {
  std::string_view name;
  std::string_view meaning;
  const TimeFigures& figures;
};

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

void AppendDeployment(const SimaiServingOptions& options, std::string* page) {
  const ServingJob& job = options.job;
  AppendFormat(page, "{} on {} {}: {} of {}, {} {}, scheduler {}\n",
               job.model.name, options.num_gpus(), job.gpu.name,
               job.replicas == 1 ? std::string("a replica")
                                 : fmt::format("{} replicas", job.replicas),
               LayoutText(job.layout), job.engine.name, job.engine.release,
               job.scheduler->name);
  AppendFormat(page, "step       at most {} positions, {} sequences\n",
               job.options.max_batched_tokens, job.options.max_sequences);
  AppendFormat(page, "cache      {} blocks of {}", job.options.num_blocks,
               job.options.block_tokens);
  if (options.room) {
    AppendFormat(page,
                 ", beside {:.2f} GiB of weights and {:.2f} GiB of workspace "
                 "on a GPU",
                 Gib(options.room->weights), Gib(options.room->workspace));
  }
  *page += "\n";
  if (options.decode) AppendDecodePool(*options.decode, page);
}

}  // namespace

std::string DescribeServing(const SimaiServingOptions& options,
                            const ServingRun& run, const FabricRun* fabric) {
  const ServingSummary& summary = run.summary;
  std::string page;
  AppendDeployment(options, &page);
  const double output = summary.PerSecond(summary.output_tokens);
  AppendFormat(
      &page,
      "served     {} requests of {} prompt and {} output tokens in "
      "{:.3f} s\n",
      summary.requests, summary.prompt_tokens, summary.output_tokens,
      1e-12 * static_cast<double>(
                  (summary.last_token - summary.first_arrival).count()));
  AppendFormat(&page,
               "output     {:.1f} tokens/s, {:.1f} for each GPU, {:.1f} for "
               "each user\n\n",
               output, output / static_cast<double>(options.num_gpus()),
               summary.tpot.mean > 0 ? 1e12 / summary.tpot.mean : 0);
  AppendFormat(&page, "{:<10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "ms",
               "mean", "p50", "p90", "p95", "p99");
  for (const NamedFigures& named : FiguresIn(summary)) {
    const TimeFigures& f = named.figures;
    std::string line = fmt::format(
        "{:<10} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}  {}",
        named.name, kMsPerPs * f.mean, kMsPerPs * f.p50, kMsPerPs * f.p90,
        kMsPerPs * f.p95, kMsPerPs * f.p99, named.meaning);
    line.erase(line.find_last_not_of(' ') + 1);
    page += line + "\n";
  }
  AppendFormat(&page,
               "\ncache use  {:.1f} % in the mean, {:.1f} % at most; {} "
               "preemptions; {:.1f} % of prompts found\n",
               100 * summary.kv_use_mean, 100 * summary.kv_use_peak,
               summary.preemptions, 100 * summary.PrefixHitRate());
  AppendFormat(&page, "steps      {} of {:.1f} sequences, whose time is",
               summary.steps, summary.batch_mean);
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    AppendFormat(&page, "{} {:.1f} % {}", i == 0 ? "" : ",",
                 100 * run.seconds[i] / run.busy_seconds(), kStepBounds[i]);
  }
  page += "\n";
  if (options.decode) AppendPoolUse(run, &page);
  if (fabric != nullptr) fabric->Describe(&page);
  return page;
}

std::string ServingResult(const ServingRun& run) {
  return fmt::format("ttft {:.1f} ms, tpot {:.2f} ms, {:.1f} output tokens/s",
                     kMsPerPs * run.summary.ttft.mean,
                     kMsPerPs * run.summary.tpot.mean,
                     run.summary.PerSecond(run.summary.output_tokens));
}

std::string ServingRunJson(const SimaiServingOptions& options,
                           const ServingRun& run, const FabricRun* fabric) {
  using Json = nlohmann::ordered_json;
  const ServingJob& job = options.job;
  const ServingSummary& summary = run.summary;
  Json json = {
      {"name", options.name},
      {"model", job.model.name},
      {"gpu", job.gpu.name},
      {"gpus", options.num_gpus()},
      {"tp", job.layout.tensor},
      {"pp", job.layout.pipeline},
      {"ep", job.layout.expert},
      {"replicas", job.replicas},
      {"dtype", job.layout.mxfp4_experts ? std::string_view("mxfp4")
                                         : Name(job.layout.precision)},
      {"engine", fmt::format("{} {}", job.engine.name, job.engine.release)},
      {"scheduler", job.scheduler->name},
      {"max_num_batched_tokens", job.options.max_batched_tokens},
      {"max_num_seqs", job.options.max_sequences},
      {"num_gpu_blocks", job.options.num_blocks},
      {"block_size", job.options.block_tokens},
      {"requests", summary.requests},
      {"prompt_tokens", summary.prompt_tokens},
      {"output_tokens", summary.output_tokens},
      {"output_tokens_per_s", summary.PerSecond(summary.output_tokens)},
      {"preemptions", summary.preemptions},
      {"prefix_hit_rate", summary.PrefixHitRate()},
      {"kv_use_mean", summary.kv_use_mean},
      {"kv_use_peak", summary.kv_use_peak},
      {"steps", summary.steps}};
  for (const NamedFigures& named : FiguresIn(summary)) {
    std::string key(named.name == "e2e/tokens" ? "normalized_e2e" : named.name);
    std::replace(key.begin(), key.end(), ' ', '_');
    const TimeFigures& f = named.figures;
    json[key + "_ms"] = {
        {"mean", kMsPerPs * f.mean}, {"p50", kMsPerPs * f.p50},
        {"p90", kMsPerPs * f.p90},   {"p95", kMsPerPs * f.p95},
        {"p99", kMsPerPs * f.p99},   {"max", kMsPerPs * f.max}};
  }
  for (size_t i = 0; i < run.seconds.size(); ++i) {
    json["step_time_s"][std::string(kStepBounds[i])] = run.seconds[i];
  }
  if (options.decode) AddPools(*options.decode, run, json);
  if (fabric != nullptr) fabric->AddTo(json);
  return json.dump(2) + "\n";
}

}  // namespace astra
