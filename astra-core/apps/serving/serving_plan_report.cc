#include "astra-core/apps/serving/serving_plan_report.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/serving/engine_launch.h"
#include "astra-core/apps/serving/serving_pools_report.h"
#include "astra-core/apps/serving/serving_report.h"
#include "astra-core/base/append_format.h"
#include "astra-core/pages/scatter_text.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr double kMs = 1e3;

std::string ShapeText(const ServingLayout& layout) {
  std::string text = fmt::format("TP {}", layout.tensor);
  if (layout.attention_ranks > 1) {
    AppendFormat(&text, " x {} ranks of attention", layout.attention_ranks);
  }
  if (layout.pipeline > 1) AppendFormat(&text, " PP {}", layout.pipeline);
  if (layout.expert > 1) AppendFormat(&text, " EP {}", layout.expert);
  return text;
}

const ServingLayout& LayoutOf(const PlanShapes& shapes, size_t shape) {
  return shapes.space().shapes[shape].layout;
}

void AppendCounts(const PlanResults& results, std::string* page) {
  const auto line = [page](int64_t count, std::string_view what) {
    if (count > 0) AppendFormat(page, "{:>12} {}\n", count, what);
  };
  for (const auto& [rule, count] : results.shapes.left_out()) {
    line(count, "shapes of a replica are left out: " + rule);
  }
  line(static_cast<int64_t>(results.shapes.space().shapes.size()),
       "shapes of a replica are left");
  line(results.plans.deployments, "deployments of these shapes");
  for (const auto& [rule, count] : results.plans.left_out) line(count, rule);
  line(static_cast<int64_t>(results.plans.best.size()),
       fmt::format("are ranked by the closed form, of {} loads",
                   results.plans.loads));
  line(static_cast<int64_t>(results.replayed), "were replayed");
}

// Returns the output rate of a GPU at the largest rate that passed.
double CapacityPerGpu(const PlanResults& results, const RankedPlan& ranked) {
  if (!ranked.capacity || !ranked.capacity->at_largest) return 0;
  return ranked.capacity->at_largest->output_rate /
         static_cast<double>(results.job.gpus);
}

void AppendTable(const PlanResults& results, std::string* page) {
  AppendFormat(
      page,
      "\n    closed form, means               replayed at this rate  "
      "       {:g} % within the limits\n"
      "  # tok/s/GPU requests/s ttft ms tpot ms ttft ms tpot ms within "
      "tok/s/GPU requests/s  deployment\n",
      100 * results.job.share);
  for (size_t i = 0; i < results.shown; ++i) {
    const RankedPlan& ranked = results.ranked[i];
    const SteadyLoad& load = ranked.plan.load;
    const double rate = ranked.capacity->capacity.largest;
    AppendFormat(
        page,
        "{:>3} {:>9.1f} {:>10.2f} {:>7.1f} {:>7.2f} {:>7.1f} {:>7.2f} {:>4.0f} "
        "% {:>9.1f} {:>10.2f}  {}\n",
        i + 1, ranked.plan.output_per_gpu, load.rate, kMs * load.ttft,
        kMs * load.tpot, kMs * ranked.same->ttft, kMs * ranked.same->tpot,
        100 * ranked.same->share, CapacityPerGpu(results, ranked), rate,
        DescribeDeployment(results.shapes, ranked.plan));
  }
}

void AppendFront(const PlanResults& results, std::string* page) {
  ScatterPlot plot;
  plot.x_name = "tokens/s for a user";
  plot.y_name = "tokens/s for a GPU";
  for (const ServingPlan& plan : results.plans.front) {
    plot.points.push_back({plan.per_user(), plan.output_per_gpu, true, "",
                           DescribeDeployment(results.shapes, plan)});
  }
  for (size_t i = 0; i < results.shown && i < 9; ++i) {
    const ServingPlan& plan = results.ranked[i].plan;
    plot.points.push_back({plan.per_user(), plan.output_per_gpu, false,
                           fmt::format("{}", i + 1), ""});
  }
  if (plot.points.empty()) return;
  *page += "\n" + ScatterText(plot) +
           "1 to 9: the plans at their largest load; *: loads of any "
           "deployment that none beats\n";
}

std::string PlanCells(const PlanShapes& shapes, const ServingPlan& plan) {
  const ServingLayout& layout = LayoutOf(shapes, plan.shape);
  std::string prefill = ",,,,";
  if (plan.prefill_shape) {
    const ServingLayout& prompts = LayoutOf(shapes, *plan.prefill_shape);
    prefill = fmt::format("{},{},{},{},{}", prompts.tensor, prompts.pipeline,
                          prompts.expert, prompts.attention_ranks,
                          plan.prefill_replicas);
  }
  return fmt::format(
      "{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}",
      plan.prefill_shape ? "separate" : "shared", layout.tensor,
      layout.pipeline, layout.expert, layout.attention_ranks, plan.replicas,
      prefill, plan.load.rate, plan.output_per_gpu, plan.per_user(),
      kMs * plan.load.ttft, kMs * plan.load.tpot, plan.load.in_flight);
}

constexpr std::string_view kPlanColumns =
    "pools,tp,pp,ep,attention_dp,replicas,prefill_tp,prefill_pp,prefill_ep,"
    "prefill_attention_dp,prefill_replicas,"
    "rate,output_tokens_per_s_per_gpu,tokens_per_s_per_user,ttft_ms,tpot_ms,"
    "in_flight";

Json PlanJsonOf(const PlanResults& results, const RankedPlan& ranked) {
  const ServingPlan& plan = ranked.plan;
  const auto shape_json = [&](size_t shape, int64_t replicas) {
    const ServingLayout& layout = LayoutOf(results.shapes, shape);
    const CacheRoom& room = results.shapes.room(shape);
    Json json = {{"tp", layout.tensor},
                 {"pp", layout.pipeline},
                 {"ep", layout.expert},
                 {"attention_dp", layout.attention_ranks},
                 {"replicas", replicas}};
    AddBlocks(room.blocks, room.block.held, json);
    json["weights_bytes"] = room.weights.count();
    return json;
  };
  Json json = {{"replica", shape_json(plan.shape, plan.replicas)}};
  if (plan.prefill_shape) {
    json["prefill_replica"] =
        shape_json(*plan.prefill_shape, plan.prefill_replicas);
  }
  json["closed_form"] = {{"rate", plan.load.rate},
                         {"output_tokens_per_s_per_gpu", plan.output_per_gpu},
                         {"ttft_ms", kMs * plan.load.ttft},
                         {"tpot_ms", kMs * plan.load.tpot},
                         {"in_flight", plan.load.in_flight}};
  if (ranked.same) {
    json["replay"] = {{"rate", ranked.same->rate},
                      {"ttft_ms", kMs * ranked.same->ttft},
                      {"tpot_ms", kMs * ranked.same->tpot},
                      {"share_within", ranked.same->share}};
    json["capacity"] = {
        {"rate", ranked.capacity->capacity.largest},
        {"failed_rate", ranked.capacity->capacity.failed},
        {"is_monotone", ranked.capacity->capacity.is_monotone},
        {"output_tokens_per_s_per_gpu", CapacityPerGpu(results, ranked)}};
  }
  return json;
}

// Appends the options that say how experts are spread, where there are any.
void AppendExperts(const ServingPlanJob& job, std::string_view prefix,
                   const ServingLayout& layout, std::string* text) {
  if (!job.job.model.experts) return;
  AppendFormat(text, " --{0}ep={1} --{0}attention-dp={2}", prefix,
               layout.expert, layout.attention_ranks);
}

// Appends the options that say what a step of each pool holds.
void AppendBudgets(const PlanResults& results, const ServingPlan& plan,
                   std::string* text) {
  const std::vector<ServingShape>& shapes = results.shapes.space().shapes;
  const BatchingOptions& own = shapes[plan.shape].options;
  const BatchingOptions& first =
      shapes[plan.prefill_shape.value_or(plan.shape)].options;
  AppendFormat(text, " \\\n  --max-num-batched-tokens={} --max-num-seqs={}",
               first.max_batched_tokens, first.max_sequences);
  if (own.max_batched_tokens == first.max_batched_tokens) return;
  AppendFormat(text,
               " \\\n  --decode-max-num-batched-tokens={} "
               "--decode-max-num-seqs={}",
               own.max_batched_tokens, own.max_sequences);
}

// Appends the limits that the share of the replay is of.
void AppendLimits(const LatencyLimits& limits, std::string* text) {
  const std::pair<std::string_view, std::optional<TimePs>> options[] = {
      {"ttft", limits.to_first_token},
      {"tpot", limits.per_token},
      {"e2e", limits.end_to_end}};
  *text += " \\\n ";
  for (const auto& [name, limit] : options) {
    if (limit) AppendFormat(text, " --slo-{}={}", name, ToMilliseconds(*limit));
  }
}

// Returns the command that serves the same requests at the same rate.
std::string CommandsText(const PlanResults& results, const RankedPlan& ranked) {
  const ServingPlanJob& job = results.job;
  const ServingPlan& plan = ranked.plan;
  const ServingLayout& own = LayoutOf(results.shapes, plan.shape);
  const bool is_split = plan.prefill_shape.has_value();
  const ServingLayout& first =
      is_split ? LayoutOf(results.shapes, *plan.prefill_shape) : own;
  std::string text = fmt::format(
      "# The same requests at the rate of the closed form.\nset -e\n"
      "simai_serving --output=\"$(dirname \"$0\")/run\" \\\n"
      "  --model={} --gpu-type={} --dtype={} \\\n"
      "  --engine={}@{} --scheduler={}",
      job.model, job.gpu,
      job.job.layout.mxfp4_experts ? std::string_view("mxfp4")
                                   : Name(job.job.layout.precision),
      job.job.engine.name, job.job.engine.release, job.job.scheduler->name);
  if (job.job.system && (is_split || own.num_gpus() > 1)) {
    AppendFormat(&text, " --system={}", *job.job.system);
  }
  AppendFormat(&text, " \\\n  --tp={} --pp={}", first.tensor, first.pipeline);
  AppendExperts(job, "", first, &text);
  AppendFormat(&text, " --replicas={}",
               is_split ? plan.prefill_replicas : plan.replicas);
  if (is_split) {
    AppendFormat(&text,
                 " \\\n  --decode-replicas={} --decode-tp={} --decode-pp={}",
                 plan.replicas, own.tensor, own.pipeline);
    AppendExperts(job, "decode-", own, &text);
    text += " --first-token=prefill";
  }
  AppendBudgets(results, plan, &text);
  if (job.job.engine.serving.memory_share > 0) {
    AppendFormat(&text, " --gpu-memory-utilization={:g}",
                 job.job.engine.serving.memory_share);
  }
  if (job.load.trace_file) {
    AppendFormat(&text, " \\\n  --trace={}", *job.load.trace_file);
  } else {
    AppendFormat(
        &text, " \\\n  --requests={} --isl={} --osl={} --rate={} --seed={}",
        ranked.same->requests, job.load.lengths.prompt_tokens,
        job.load.lengths.output_tokens, ranked.same->rate, job.load.seed);
  }
  AppendLimits(job.limits, &text);
  return text + "\n";
}

}  // namespace

std::string DescribeDeployment(const PlanShapes& shapes,
                               const ServingPlan& plan) {
  std::string own = fmt::format("{} x {}", plan.replicas,
                                ShapeText(LayoutOf(shapes, plan.shape)));
  if (!plan.prefill_shape) return own;
  return fmt::format("{} x {} for prompts, {} for decoding",
                     plan.prefill_replicas,
                     ShapeText(LayoutOf(shapes, *plan.prefill_shape)), own);
}

std::string DescribeServingPlans(const PlanResults& results) {
  const ServingPlanJob& job = results.job;
  std::string page = fmt::format(
      "{} on {} {}, {} {}: prompts of {} and answers of {} tokens, {}\n",
      job.job.model.name, job.gpus, job.job.gpu.name, job.job.engine.name,
      job.job.engine.release, job.load.lengths.prompt_tokens,
      job.load.lengths.output_tokens, DescribeLimits(job.limits));
  AppendCounts(results, &page);
  if (results.shown > 0) AppendTable(results, &page);
  AppendFront(results, &page);
  return page;
}

std::string ServingPlanResult(const PlanResults& results) {
  if (results.shown == 0) {
    const auto& left_out = results.plans.left_out;
    if (left_out.contains(std::string(kServeNothing))) {
      return fmt::format("{} of {} deployments {}, and no other keeps them",
                         left_out.at(std::string(kServeNothing)),
                         results.plans.deployments, kServeNothing);
    }
    return results.plans.least_tpot == 0
               ? std::string("no deployment can serve this")
               : fmt::format(
                     "no load keeps the limits: the shortest mean ttft "
                     "is {:.4g} ms, the shortest mean tpot {:.4g} ms",
                     kMs * results.plans.least_ttft,
                     kMs * results.plans.least_tpot);
  }
  const RankedPlan& best = results.ranked.front();
  return fmt::format(
      "{} takes {:.4g} requests/s, {:.1f} output tokens/s for "
      "each GPU",
      DescribeDeployment(results.shapes, best.plan),
      best.capacity->capacity.largest, CapacityPerGpu(results, best));
}

std::string ServingPlansCsv(const PlanResults& results) {
  std::string csv = fmt::format(
      "rank,{},replay_ttft_ms,replay_tpot_ms,replay_share_within,"
      "capacity_rate,capacity_output_tokens_per_s_per_gpu\n",
      kPlanColumns);
  for (size_t i = 0; i < results.ranked.size(); ++i) {
    const RankedPlan& ranked = results.ranked[i];
    AppendFormat(&csv, "{},{},", i + 1, PlanCells(results.shapes, ranked.plan));
    if (ranked.same) {
      AppendFormat(&csv, "{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n",
                   kMs * ranked.same->ttft, kMs * ranked.same->tpot,
                   ranked.same->share, ranked.capacity->capacity.largest,
                   CapacityPerGpu(results, ranked));
    } else {
      csv += ",,,,\n";
    }
  }
  return csv;
}

std::string ServingFrontCsv(const PlanResults& results) {
  std::string csv = fmt::format("{}\n", kPlanColumns);
  for (const ServingPlan& plan : results.plans.front) {
    csv += PlanCells(results.shapes, plan) + "\n";
  }
  return csv;
}

std::string ServingPlanJson(const PlanResults& results) {
  const ServingPlanJob& job = results.job;
  Json plans = Json::array();
  for (size_t i = 0; i < results.shown; ++i) {
    plans.push_back(PlanJsonOf(results, results.ranked[i]));
  }
  Json shapes_left_out = Json::object();
  for (const auto& [rule, count] : results.shapes.left_out()) {
    shapes_left_out[rule] = count;
  }
  Json left_out = Json::object();
  for (const auto& [rule, count] : results.plans.left_out) {
    left_out[rule] = count;
  }
  return JsonText({{"name", job.name},
                   {"model", job.job.model.name},
                   {"gpu", job.job.gpu.name},
                   {"gpus", job.gpus},
                   {"engine", fmt::format("{} {}", job.job.engine.name,
                                          job.job.engine.release)},
                   {"prompt_tokens", job.load.lengths.prompt_tokens},
                   {"output_tokens", job.load.lengths.output_tokens},
                   {"share", job.share},
                   {"shapes", results.shapes.space().shapes.size()},
                   {"shapes_left_out", std::move(shapes_left_out)},
                   {"deployments", results.plans.deployments},
                   {"left_out", std::move(left_out)},
                   {"ranked", results.plans.best.size()},
                   {"loads", results.plans.loads},
                   {"plans", std::move(plans)}});
}

std::vector<NamedFile> PlanFolderFiles(const PlanResults& results,
                                       const RankedPlan& ranked) {
  const ServingPlanJob& job = results.job;
  std::vector<NamedFile> files = {
      {"commands.sh", CommandsText(results, ranked)}};
  std::vector<std::string> notes;
  const auto add = [&](std::string name, size_t shape, PoolRole role) {
    std::string text = LaunchCommand(
        {job.job, LayoutOf(results.shapes, shape), role,
         job.load.lengths.prompt_tokens + job.load.lengths.output_tokens},
        &notes);
    if (!text.empty()) files.push_back({std::move(name), std::move(text)});
  };
  const ServingPlan& plan = ranked.plan;
  if (plan.prefill_shape) {
    add("launch-prefill.sh", *plan.prefill_shape, PoolRole::kPrefill);
    add("launch-decode.sh", plan.shape, PoolRole::kDecode);
  } else {
    add("launch.sh", plan.shape, PoolRole::kShared);
  }
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  if (notes.empty()) return files;
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  files.push_back({"launch-notes.txt", std::move(text)});
  return files;
}

}  // namespace astra
