#include "astra-core/planner/simumax/compute_json.h"

#include <algorithm>
#include <string>

#include "astra-core/base/units.h"
#include "astra-core/planner/simumax/result_parts.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

double MicroBatches(const SimumaxResult& result) {
  return static_cast<double>(result.files.strategy.micro_batches);
}

// Time of the messages that a stage sends and receives for one micro-batch.
double MessagesMs(const SimumaxResult& result, const SimumaxStage& stage) {
  const bool is_first = stage.rank == 0;
  const bool is_last =
      stage.rank + 1 == static_cast<int64_t>(result.stages.size());
  const double neighbours = (is_first ? 0 : 1) + (is_last ? 0 : 1);
  return 2 * neighbours * result.message_ms;
}

double NetMs(const SimumaxStage& stage) {
  return stage.cost.forward.net_ms + stage.cost.backward.net_ms +
         stage.cost.recompute.net_ms;
}

Json DataJson(const SimumaxResult& result, const SimumaxDataParallel& data) {
  Json json = {{"dp_comm_time", SimumaxTimeText(data.total_ms())},
               {"dp_comm_exposed_time", SimumaxTimeText(data.total_ms())},
               {"dp_comm_rs_size", data.gradient_bytes},
               {"dp_comm_ag_size", data.parameter_bytes},
               {"dp_comm_num_gather", result.files.model.is_moe ? 2 : 1}};
  if (result.files.strategy.zero > 0) {
    json["details"] = {{"reduce_scatter_time", SimumaxTimeText(data.reduce_ms)},
                       {"all_gather_time", SimumaxTimeText(data.gather_ms)}};
  }
  return json;
}

Json CommunicationJson(const SimumaxResult& result, const SimumaxStage& stage) {
  const double times = MicroBatches(result);
  const double messages = MessagesMs(result, stage);
  return {
      {"dp_comm_time",
       {{"dp_comm_exposed_time", SimumaxTimeText(stage.dense_data.total_ms() +
                                                 stage.expert_data.total_ms())},
        {"dense", DataJson(result, stage.dense_data)},
        {"moe", DataJson(result, stage.expert_data)}}},
      {"intra_comm_time",
       {{"intra_exposed_time_per_batch", SimumaxTimeText(NetMs(stage))},
        {"intra_exposed_time", SimumaxTimeText(times * NetMs(stage))}}},
      {"inter_comm_time",
       {{"inter_exposed_time_per_batch", SimumaxTimeText(messages)},
        {"inter_exposed_time", SimumaxTimeText(times * messages)}}}};
}

Json OptimizerJson(const SimumaxOptimizer& optimizer) {
  return {
      {"optim_time", SimumaxTimeText(optimizer.total_ms())},
      {"optim_exposed_time", SimumaxTimeText(optimizer.total_ms())},
      {"zero_grad_buffer_time", SimumaxTimeText(optimizer.zero_gradients_ms)},
      {"l2_norm_before_reduce_time", SimumaxTimeText(optimizer.norm_before_ms)},
      {"mul_before_reduce_time", SimumaxTimeText(optimizer.scale_before_ms)},
      {"l2_norm_after_reduce_time", SimumaxTimeText(optimizer.norm_after_ms)},
      {"grads_clip_after_reduce_time", SimumaxTimeText(optimizer.clip_ms)},
      {"adam_time", SimumaxTimeText(optimizer.adam_ms)},
      {"copy_main_params_to_model_params_time",
       SimumaxTimeText(optimizer.copy_ms)}};
}

Json BatchJson(const SimumaxChunkCost& cost) {
  const auto& [forward, recompute, backward] = cost;
  return {{"compute_info",
           {{"fwd_flops", SimumaxCountText(forward.flops)},
            {"recompute_flops", SimumaxCountText(recompute.flops)},
            {"bwd_flops", SimumaxCountText(backward.flops)},
            {"fwd_accessed_mem", SimumaxBytesText(forward.bytes)},
            {"recompute_accessed_mem", SimumaxBytesText(recompute.bytes)},
            {"bwd_accessed_mem", SimumaxBytesText(backward.bytes)}}},
          {"cost_info",
           {{"fwd_compute_time", SimumaxTimeText(forward.compute_ms)},
            {"bwd_compute_time", SimumaxTimeText(backward.compute_ms)},
            {"recompute_compute_time", SimumaxTimeText(recompute.compute_ms)},
            {"fwd_net_time", SimumaxTimeText(forward.net_ms)},
            {"bwd_net_time", SimumaxTimeText(backward.net_ms)},
            {"recompute_net_time", SimumaxTimeText(recompute.net_ms)},
            // SimuMax leaves these at 0, and counts no collective in the times.
            {"fwd_net_exposed_time", SimumaxTimeText(0)},
            {"bwd_net_exposed_time", SimumaxTimeText(0)},
            {"recompute_net_exposed_time", SimumaxTimeText(0)},
            {"fwd_time", SimumaxTimeText(forward.compute_ms)},
            {"bwd_time", SimumaxTimeText(backward.compute_ms)},
            {"recompute_time", SimumaxTimeText(recompute.compute_ms)}}}};
}

Json ComputationJson(const SimumaxResult& result, const SimumaxStage& stage) {
  const double times = MicroBatches(result);
  const auto& [forward, recompute, backward] = stage.cost;
  return {{"batch_compute_stat", BatchJson(stage.cost)},
          {"fwd_compute_time", SimumaxTimeText(times * forward.compute_ms)},
          {"recompute_time", SimumaxTimeText(times * recompute.compute_ms)},
          {"bwd_compute_time", SimumaxTimeText(times * backward.compute_ms)},
          {"optim_time", OptimizerJson(stage.optimizer)},
          {"fwd_flops", SimumaxCountText(times * forward.flops)},
          {"recompute_flops", SimumaxCountText(times * recompute.flops)},
          {"bwd_flops", SimumaxCountText(times * backward.flops)},
          {"model_flops",
           SimumaxCountText(times * (forward.flops + backward.flops))}};
}

Json BreakdownJson(const SimumaxResult& result, const SimumaxStage& stage) {
  const double times = MicroBatches(result);
  const auto& [forward, recompute, backward] = stage.cost;
  return {{"fwd_compute_time", SimumaxTimeText(times * forward.compute_ms)},
          {"recompute_time", SimumaxTimeText(times * recompute.compute_ms)},
          {"bwd_compute_time", SimumaxTimeText(times * backward.compute_ms)},
          {"optim_time", SimumaxTimeText(stage.optimizer.total_ms())},
          {"intra_exposed_time", SimumaxTimeText(times * NetMs(stage))},
          {"inter_exposed_time",
           SimumaxTimeText(times * MessagesMs(result, stage))},
          {"dp_exposed_time", SimumaxTimeText(stage.dense_data.total_ms() +
                                              stage.expert_data.total_ms())}};
}

// The bubble is what is left of the pipeline's time. It is negative in SimuMax
// where messages of a micro-batch hide behind others; here it ends at 0.
Json ChunkTimesJson(const SimumaxResult& result, const SimumaxStage& stage) {
  const double messages = MessagesMs(result, stage);
  const double once =
      stage.cost.forward_ms() + stage.cost.backward_ms() + messages;
  const double bubble =
      std::max(0.0, result.pipeline_ms - MicroBatches(result) * once);
  const double pipeline = result.straggler_ratio * result.pipeline_ms;
  return {{"duration_time(chunk_timexmbc+dp_optim+bubble)",
           SimumaxTimeText(pipeline + stage.after_ms())},
          {"chunk_time(fwd+bwd)", SimumaxTimeText(once)},
          {"dp_and_optim_time", SimumaxTimeText(stage.after_ms())},
          {"bubble_time", SimumaxTimeText(bubble)},
          {"straggler_time", SimumaxTimeText(pipeline - result.pipeline_ms)}};
}

std::string Billions(double count) {
  constexpr double kBillion = 1e9;
  return fmt::format("{:.2f}B", count / kBillion);
}

Json ParametersJson(const SimumaxResult& result) {
  double dense = 0;
  double experts = 0;
  for (const SimumaxStage& stage : result.stages) {
    dense += stage.dense_parameters;
    experts += stage.expert_parameters;
  }
  const SimumaxModel& model = result.files.model;
  const double share = model.is_moe ? static_cast<double>(model.top_k) /
                                          static_cast<double>(model.experts)
                                    : 1;
  const double active = dense + share * experts;
  return {{"dense", Billions(dense)},
          {"moe", Billions(experts)},
          {"all", Billions(dense + experts)},
          {"activations", Billions(active)},
          {"activations_ratio",
           fmt::format("{:.2f}%", kPercent * active / (dense + experts))}};
}

// Returns SimuMax's name of a stage's chunk.
std::string ChunkName(const std::string& stage) { return stage + "_chunk"; }

}  // namespace

Json SimumaxComputeJson(const SimumaxResult& result) {
  const SimumaxStage& first = result.stages.front();
  Json json;
  if (result.stages.size() > 1) {
    json["breakdown_result_last_stage"] =
        BreakdownJson(result, result.stages.back());
  }
  json["comm_details"] = CommunicationJson(result, first);
  json["compute_details"] = ComputationJson(result, first);
  json["breakdown_result"] = BreakdownJson(result, first);
  json["all_tokens_per_iter"] = result.tokens;
  json["straggle_ratio"] = result.straggler_ratio;
  Json chunks;
  for (const auto& [name, stage] : SimumaxShownStages(result)) {
    chunks[ChunkName(name)] = ChunkTimesJson(result, *stage);
  }
  json["all_chunk_times"] = chunks;
  json["duration_time_per_iter"] = SimumaxTimeText(result.iteration_ms);
  json["throughput_per_accelerator"] = result.tokens_per_gpu;
  json["throughput per GPU (TFLOP/s/GPU)"] = result.tflops_per_gpu;
  constexpr double kTera = 1e12;
  json["throughput per GPU per token (TFLOP/s/GPU/token)"] =
      result.flops_per_token / (result.iteration_ms / kMsPerSecond) / kTera;
  json["mfu_6nd_with_attn"] = result.utilization;
  json["mfu"] = result.utilization;
  const Json parameters = ParametersJson(result);
  json["moe_param_numel"] = parameters["moe"];
  const SimumaxChunkCost& cost = first.cost;
  json["flops_info"] = {
      {"theory_flops", SimumaxCountText(result.flops_per_gpu)},
      {"model_flops",
       SimumaxCountText(MicroBatches(result) *
                        (cost.forward.flops + cost.backward.flops))}};
  json["param_numel_info"] = parameters;
  return json;
}

}  // namespace astra
