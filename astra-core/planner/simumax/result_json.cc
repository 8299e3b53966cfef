#include "astra-core/planner/simumax/result_json.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "astra-core/base/units.h"
#include "astra-core/planner/simumax/compute_json.h"
#include "astra-core/planner/simumax/result_parts.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const Json& json) {
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}

Json StatesJson(const SimumaxStates& states) {
  return {{"all_mem", SimumaxBytesText(states.sum())},
          {"detail",
           {{"weight_bytes", SimumaxBytesText(states.weights)},
            {"grad_bytes", SimumaxBytesText(states.gradients)},
            {"state_bytes", SimumaxBytesText(states.optimizer)}}}};
}

Json MemoryJson(const SimumaxResult& result, const SimumaxStage& stage) {
  const SimumaxStrategy& strategy = result.files.strategy;
  const SimumaxRecompute& recompute = strategy.recompute;
  const bool has_chunks = strategy.chunks > 1;
  const double states =
      stage.dense.sum() + stage.experts.sum() + stage.unused_gradients;
  const StageMemory& memory = stage.memory;
  const double others = has_chunks ? 0
                                   : static_cast<double>(memory.in_flight - 1) *
                                         stage.saved_bytes;
  Json json;
  json["micro_batch_num"] = strategy.micro_batches;
  json["micro_batch_size"] = strategy.micro_batch;
  json["cached_micro_batch_num"] =
      has_chunks ? memory.in_flight
                 : std::max<int64_t>(1, memory.in_flight) - 1;
  json["parallel_config"] = {
      {"parallelism", SimumaxParallelism(strategy)},
      {"fp8", strategy.fp8},
      {"recompute_status",
       {{"layer_num", result.files.model.layers},
        {"actual_layer_num", stage.layers},
        {"recompute_layer", recompute.layers},
        {"recompute_recompute_granularity",
         recompute.name.empty() ? Json() : Json(recompute.name)}}}};
  json["model_mem"] = SimumaxBytesText(states);
  json["model_mem_detail"] = {
      {"dense", StatesJson(stage.dense)},
      {"moe", StatesJson(stage.experts)},
      {"te_dummy_wgrad",
       {{"all_mem", SimumaxBytesText(stage.unused_gradients)}}}};
  json["fwd_activation_cache_per_micro_batch"] =
      SimumaxBytesText(stage.saved_bytes);
  json["peak_activation_mem_in_1F1B"] =
      SimumaxBytesText(stage.peak_bytes() - states - others);
  json["peak_mem"] = SimumaxBytesText(stage.peak_bytes());
  json["peak_mem_with_reserved"] =
      SimumaxBytesText(stage.peak_bytes() / strategy.memory_share);
  json["memory_reserved_ratio"] = fmt::format("{}", strategy.memory_share);
  json["peak_path"] = stage.peak_path;
  return json;
}

Json AllMemoryJson(const SimumaxResult& result) {
  const std::vector<NamedStage> stages = SimumaxShownStages(result);
  if (stages.size() == 1) return MemoryJson(result, *stages[0].stage);
  Json json;
  for (const auto& [name, stage] : stages) {
    json[name] = MemoryJson(result, *stage);
  }
  return json;
}

Json BaseInfoJson(const SimumaxResult& result) {
  Json arch;
  for (const auto& [name, stage] : SimumaxShownStages(result)) {
    arch[name] = stage->modules;
  }
  return {{"arch", arch},
          {"all_param", SimumaxParameters(result.files, false)},
          {"act_param", SimumaxParameters(result.files, true)}};
}

Json NetInfoJson(const SimumaxResult& result) {
  Json json = Json::object();
  for (const auto& [op, stages] : result.networks) {
    for (const auto& [stage, record] : stages) {
      if (record.is_fixed) {
        json[op + "_dp"] = {
            {"net", record.network},
            {"bw", fmt::format("{} GB/S", record.real_gib_per_second)},
            {"comm_num", record.ranks},
            {"latency", Json()}};
        continue;
      }
      json[op][stage] = {{"net", record.network},
                         {"base_bw", record.base_gib_per_second},
                         {"real_bw", record.real_gib_per_second},
                         {"eff_factor", record.efficiency},
                         {"comm_num", record.ranks},
                         {"comm_size", record.bytes},
                         {"total_time", record.us},
                         {"latency", record.latency_us},
                         {"FC8", result.files.system.is_fully_connected}};
    }
  }
  return json;
}

Json EfficiencyJson(const SimumaxResult& result) {
  Json misses = Json::object();
  for (const auto& [op, shapes] : result.misses) {
    for (const auto& [shape, found] : shapes) {
      misses[op]["shape=" + shape] = {{"flops", found.flops},
                                      {"use_eff", found.efficiency}};
    }
  }
  Json hits = Json::object();
  for (const auto& [op, shapes] : result.hits) {
    for (const auto& [shape, found] : shapes) {
      hits[op][shape] = {found.flops, found.efficiency};
    }
  }
  return {{"miss_efficiency", misses}, {"hit_efficiency", hits}};
}

// Returns the most bytes that a rank of a stage allocates.
double PeakBytes(const SimumaxResult& result) {
  double peak = 0;
  for (const SimumaxStage& stage : result.stages) {
    peak = std::max(peak, stage.peak_bytes());
  }
  return peak;
}

}  // namespace

std::vector<NamedFile> SimumaxResultFiles(const SimumaxResult& result) {
  return {{"compute_result.json", TextOf(SimumaxComputeJson(result))},
          {"mem_result.json", TextOf(AllMemoryJson(result))},
          {"base_info.json", TextOf(BaseInfoJson(result))},
          {"net_info.json", TextOf(NetInfoJson(result))},
          {"efficiency.json", TextOf(EfficiencyJson(result))}};
}

std::string SimumaxRunJson(const SimumaxResult& result) {
  constexpr double kPsPerMs = 1e9;
  const SimumaxStrategy& strategy = result.files.strategy;
  const double gib = PeakBytes(result) / kBytesPerGib;
  return TextOf(
      {{"program", "simai_planner"},
       {"assumptions", "SimuMax"},
       {"result",
        {{"iteration_ps", std::llround(result.iteration_ms * kPsPerMs)},
         {"tokens_per_s_per_gpu", result.tokens_per_gpu},
         {"model_tflops_per_gpu", result.tflops_per_gpu},
         {"mfu", result.utilization}}},
       {"memory",
        {{"allocated_memory_gib", gib},
         {"reserved_memory_gib", gib / strategy.memory_share}}}});
}

}  // namespace astra
