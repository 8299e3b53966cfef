#include "astra-core/apps/plan/internevo_report.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "astra-core/apps/json_parts.h"
#include "astra-core/base/append_format.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr double kMs = 1e3;              // A second.
constexpr double kGb = 1.0 / (1 << 30);  // A byte.

struct View {
  const EvoRequest& request;
  const EvoSolution& solution;
};

// A number that InternEvo's simulator prints of a solution.
struct Field {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  double (*value)(const View&);
};

double Of(int64_t count) { return static_cast<double>(count); }

constexpr Field kFields[] = {
    {"world_size", "", "GPUs",
     [](const View& v) { return Of(v.request.world); }},
    {"tgs", "", "tokens per GPU and second",
     [](const View& v) { return v.solution.cost.tgs; }},
    {"total_latency", "ms", "a step",
     [](const View& v) { return kMs * v.solution.cost.total; }},
    {"global_bsz", "", "tokens of a step",
     [](const View& v) { return v.solution.cost.tokens; }},
    {"activation_ckpt", "", "share of blocks recomputed",
     [](const View& v) { return v.solution.layout.checkpoint; }},
    {"seq_len", "", "", [](const View& v) { return Of(v.request.seq_len); }},
    {"micro_bsz", "", "sequences of a micro-batch",
     [](const View& v) { return Of(v.solution.layout.micro_bsz); }},
    {"micro_num", "", "micro-batches of a replica",
     [](const View& v) { return Of(v.solution.layout.micro_num); }},
    {"modelsize", "", "billions of parameters",
     [](const View& v) { return ModelParameters(v.request.model) / kBillion; }},
    {"pp_size", "", "pipeline stages",
     [](const View& v) { return Of(v.solution.layout.pipeline); }},
    {"sp_size", "", "sequence or tensor parallelism",
     [](const View& v) { return Of(v.solution.layout.sequence); }},
    {"wp_size", "", "weight parallelism",
     [](const View& v) { return Of(v.solution.layout.weight); }},
    {"zp_size", "", "ranks that share optimizer states",
     [](const View& v) { return Of(v.solution.layout.zero); }},
    {"fwd_bwd_cost", "ms", "a micro-batch on the largest stage",
     [](const View& v) { return kMs * v.solution.cost.fwd_bwd; }},
    {"all_fwd_bwd_cost", "ms", "all micro-batches of a replica",
     [](const View& v) { return kMs * v.solution.cost.all_fwd_bwd; }},
    {"overlap_latency", "ms", "a block's products beside its weights' way",
     [](const View& v) { return kMs * v.solution.cost.overlap_latency; }},
    {"comp_wp", "ms", "a block's products",
     [](const View& v) { return kMs * v.solution.cost.comp_wp; }},
    {"comp_attn", "ms", "a block's attention",
     [](const View& v) { return kMs * v.solution.cost.comp_attn; }},
    {"comp_streams", "ms", "a block's norms, SwiGLU, residual sums *",
     [](const View& v) { return kMs * v.solution.cost.comp_streams; }},
    {"wp_comm_cost", "ms", "a block's weight-parallel collectives",
     [](const View& v) { return kMs * v.solution.cost.wp_comm; }},
    {"sp_comm_cost", "ms", "a block's sequence-parallel collectives",
     [](const View& v) { return kMs * v.solution.cost.sp_comm; }},
    {"head_cost", "ms", "the head and the loss of a micro-batch *",
     [](const View& v) { return kMs * v.solution.cost.head; }},
    {"embedding_cost", "ms", "the embedding of a micro-batch *",
     [](const View& v) { return kMs * v.solution.cost.embedding; }},
    {"pp_comm_cost", "ms", "bubble and messages between stages",
     [](const View& v) { return kMs * v.solution.cost.pp_comm(); }},
    {"pp_bubble_cost", "ms", "the bubble alone *",
     [](const View& v) { return kMs * v.solution.cost.bubble; }},
    {"zp_comm_cost", "ms", "broadcasts of updated parameters",
     [](const View& v) { return kMs * v.solution.cost.zp_comm; }},
    {"wdp_comm_cost", "ms", "what the reduction of gradients adds",
     [](const View& v) { return kMs * v.solution.cost.wdp_comm; }},
    {"optimizer_cost", "ms", "update of the parameters *",
     [](const View& v) { return kMs * v.solution.cost.optimizer; }},
    {"total_mm_cost", "GB", "memory at its peak",
     [](const View& v) { return kGb * v.solution.memory.total; }},
    {"os_mm_cost", "GB", "optimizer states",
     [](const View& v) { return kGb * v.solution.memory.os; }},
    {"p_g_mm_cost", "GB", "parameters and gradients",
     [](const View& v) { return kGb * v.solution.memory.p_g; }},
    {"isp_mem_pool", "GB", "weights gathered ahead",
     [](const View& v) { return kGb * v.solution.memory.isp_pool; }},
    {"sincos_cache_mm", "GB", "rotary positions",
     [](const View& v) { return kGb * v.solution.memory.sincos_cache; }},
    {"pp_p2p_buffer", "GB", "messages between stages",
     [](const View& v) { return kGb * v.solution.memory.pp_p2p_buffer; }},
    {"activation", "GB", "all of the following",
     [](const View& v) { return kGb * v.solution.memory.activation(); }},
    {"blocks_activation", "GB", "blocks in flight",
     [](const View& v) { return kGb * v.solution.memory.blocks; }},
    {"norm_activation", "GB", "norm before the head",
     [](const View& v) { return kGb * v.solution.memory.norm; }},
    {"backward_mem_peak", "GB", "gradients of the head",
     [](const View& v) { return kGb * v.solution.memory.backward_peak; }},
    {"head_input_activation", "GB", "",
     [](const View& v) { return kGb * v.solution.memory.head_input; }},
    {"head_output_activation", "GB", "logits",
     [](const View& v) { return kGb * v.solution.memory.head_output; }},
    {"block_output_activation", "GB", "outputs of recomputed blocks",
     [](const View& v) { return kGb * v.solution.memory.block_output; }},
};

// Returns a number with as many decimals as a reader can use.
std::string NumberText(const Field& field, double value) {
  if (field.unit.empty()) return fmt::format("{:.12g}", value);
  return fmt::format("{:.3f}", value);
}

void AppendFields(const View& view, std::string* page) {
  AppendFormat(page, "  {:<24} {:>14}\n", "algo_type",
               Name(view.solution.layout.mode));
  for (const Field& field : kFields) {
    const double value = field.value(view);
    const std::string text = field.name == "tgs" || field.name == "modelsize"
                                 ? fmt::format("{:.2f}", value)
                                 : NumberText(field, value);
    std::string line = fmt::format("  {:<24} {:>14} {:<2}  {}", field.name,
                                   text, field.unit, field.meaning);
    line.erase(line.find_last_not_of(' ') + 1);
    *page += line + "\n";
  }
  *page += "  *: InternEvo's simulator leaves it out\n";
}

void AppendRow(std::string_view label, const EvoSolution& solution,
               std::string* page) {
  const EvoLayout& layout = solution.layout;
  AppendFormat(page,
               "{:>4} {:>9.2f} {:>10.2f}  {:<4} {:>3} {:>3} {:>4} {:>4} {:>9} "
               "{:>9} {:>5} {:>9.2f}\n",
               label, solution.cost.tgs, kMs * solution.cost.total,
               Name(layout.mode), layout.pipeline, layout.sequence,
               layout.weight, layout.zero, layout.micro_bsz, layout.micro_num,
               layout.checkpoint, kGb * solution.memory.total);
}

void AppendTables(const EvoRequest& request, const EvoSearchResult& found,
                  std::string* page) {
  AppendFormat(page,
               "\n{:>4} {:>9} {:>10}  {:<4} {:>3} {:>3} {:>4} {:>4} {:>9} "
               "{:>9} {:>5} {:>9}\n",
               "", "TGS", "step ms", "algo", "pp", "sp", "wp", "zp",
               "micro_bsz", "micro_num", "ckpt", "memory GB");
  const size_t shown = std::min(request.shown, found.solutions.size());
  for (size_t i = 0; i < shown; ++i) {
    AppendRow(fmt::format("{}", i + 1), found.solutions[i], page);
  }
  *page += "best of each mode\n";
  for (const EvoMode mode : kEvoModes) {
    const auto& best = found.best_of_mode[static_cast<size_t>(mode)];
    if (best) {
      AppendRow("", *best, page);
    } else {
      AppendFormat(page, "{:>26} nothing fits\n", Name(mode));
    }
  }
}

// Appends the linear models of the tables that `layout` reads.
void AppendLines(const EvoLayout& layout, const PreparedProfile& prepared,
                 const EvoCluster& cluster, std::string* page) {
  *page += "\nlinear models of the profile (fits.csv has all)\n";
  AppendFormat(page, "  {:<32} {}\n", "linear",
               DescribeLine(FitLine(prepared.profile.products), "TFLOP/s"));
  std::vector<EvoKey> keys;
  AppendKeys(layout, cluster, &keys);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const EvoKey& key : keys) {
    const EvoLine line = FitLine(prepared.profile.collectives.at(key));
    AppendFormat(page, "  {:<32} {}\n", Name(key), DescribeLine(line, "GB/s"));
  }
}

Json FieldsJson(const EvoRequest& request, const EvoSolution& solution) {
  Json json = {{"algo_type", Name(solution.layout.mode)}};
  for (const Field& field : kFields) {
    const double value = field.value({request, solution});
    if (value == std::floor(value) && field.unit.empty()) {
      json[std::string(field.name)] = static_cast<int64_t>(value);
    } else {
      json[std::string(field.name)] = value;
    }
  }
  return json;
}

void AppendCounts(const EvoSearchResult& found, std::string* page) {
  AppendFormat(page, "{:>12} layouts\n", found.layouts);
  if (found.uneven > 0) {
    AppendFormat(page, "{:>12} have a group that lies unevenly on servers\n",
                 found.uneven);
  }
  AppendFormat(page, "{:>12} do not fit into the memory\n{:>12} were priced\n",
               found.beyond_memory, found.solved);
}

}  // namespace

std::string DescribeEvoLayout(const EvoLayout& layout) {
  return fmt::format(
      "{} pp {} sp {} wp {} zp {}, micro_bsz {} x micro_num {}, ckpt {}",
      Name(layout.mode), layout.pipeline, layout.sequence, layout.weight,
      layout.zero, layout.micro_bsz, layout.micro_num, layout.checkpoint);
}

std::string DescribeEvo(const EvoRequest& request, const EvoSearchResult& found,
                        const PreparedProfile& prepared,
                        const EvoCluster& cluster) {
  const EvoModel& model = request.model;
  std::string page = fmt::format(
      "{:.2f} billion parameters on {} {}, {}\n"
      "{} layers of {}, {} heads, {} for keys, feed-forward {}, {} words\n",
      ModelParameters(model) / kBillion, request.world, request.gpu.name,
      request.run.cluster_name() == "--system" ? request.run.system.value_or("")
                                               : request.run.cluster_name(),
      model.layers, model.hidden, model.heads, model.kv_heads, model.ffn,
      model.vocabulary);
  if (!request.layout) {
    AppendFormat(&page, "steps of {} tokens, sequences of {}\n", request.tokens,
                 request.seq_len);
    AppendCounts(found, &page);
  }
  if (found.solutions.empty()) return page;
  if (!request.layout) AppendTables(request, found, &page);
  const EvoSolution& best = found.solutions.front();
  AppendLines(best.layout, prepared, cluster, &page);
  page += request.layout ? "\nthe config\n" : "\nbest solution\n";
  AppendFields({request, best}, &page);
  return page;
}

std::string EvoSolutionsCsv(const EvoRequest& request,
                            const EvoSearchResult& found) {
  std::string csv = "rank,algo_type";
  for (const Field& field : kFields) {
    AppendFormat(&csv, ",{}{}{}", field.name, field.unit.empty() ? "" : "_",
                 field.unit == "GB" ? "gb" : field.unit);
  }
  csv += "\n";
  for (size_t i = 0; i < found.solutions.size(); ++i) {
    const EvoSolution& solution = found.solutions[i];
    AppendFormat(&csv, "{},{}", i + 1, Name(solution.layout.mode));
    for (const Field& field : kFields) {
      AppendFormat(&csv, ",{:.12g}", field.value({request, solution}));
    }
    csv += "\n";
  }
  return csv;
}

std::string EvoBestJson(const EvoRequest& request,
                        const EvoSearchResult& found) {
  Json json = {{"gpu", request.gpu.name},
               {"layouts", found.layouts},
               {"uneven", found.uneven},
               {"beyond_memory", found.beyond_memory},
               {"solved", found.solved}};
  if (!found.solutions.empty()) {
    json["best"] = FieldsJson(request, found.solutions.front());
  }
  for (const EvoMode mode : kEvoModes) {
    const auto& best = found.best_of_mode[static_cast<size_t>(mode)];
    if (best) json[std::string(Name(mode))] = FieldsJson(request, *best);
  }
  return JsonText(json);
}

std::string EvoRunJson(const EvoRequest& request,
                       const EvoSearchResult& found) {
  Json json = {{"program", "simai_planner"},
               {"result", {{"fits", !found.solutions.empty()}}}};
  if (found.solutions.empty()) return JsonText(json);
  const EvoSolution& best = found.solutions.front();
  json["result"]["iteration_ps"] = std::llround(best.cost.total * kPsPerSecond);
  json["result"]["tokens_per_s"] = best.cost.tgs * Of(request.world);
  json["result"]["tokens_per_s_per_gpu"] = best.cost.tgs;
  json["memory"] = {{"allocated_memory_gib", kGb * best.memory.total}};
  return JsonText(json);
}

}  // namespace astra
