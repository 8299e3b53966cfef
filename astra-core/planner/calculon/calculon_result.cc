#include "astra-core/planner/calculon/calculon_result.h"

#include <string_view>

#include "astra-core/base/append_format.h"
#include "astra-core/base/units.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

using Statistics = std::vector<CalculonStatistic>;

void Append(const Statistics& more, Statistics& all) {
  all.insert(all.end(), more.begin(), more.end());
}

// Adds the numbers of a pass; `name` is that of the pass in Calculon.
void AppendPass(std::string_view name, const CalculonPassCost& pass,
                Statistics& all) {
  all.push_back({fmt::format("block_{}_flops", name), pass.flops});
  all.push_back({fmt::format("block_{}_flops_time", name), pass.flops_seconds});
  all.push_back({fmt::format("block_{}_mem_accessed", name), pass.bytes});
  all.push_back({fmt::format("block_{}_mem_time", name), pass.memory_seconds});
  all.push_back({fmt::format("block_{}_time", name), pass.seconds});
}

void AppendTensor(std::string_view name, const CalculonTensorCost& tensor,
                  Statistics& all) {
  const CalculonPair& seconds = tensor.seconds;
  const CalculonPair& exposed = tensor.exposed;
  all.push_back({fmt::format("baseblock_{}_time", name), seconds.base});
  all.push_back({fmt::format("edgeblock_{}_time", name), seconds.edge});
  all.push_back({fmt::format("baseblock_{}_time_exposed", name), exposed.base});
  all.push_back({fmt::format("edgeblock_{}_time_exposed", name), exposed.edge});
}

Statistics BlockTimeStatistics(const CalculonBlockCost& block) {
  Statistics all;
  AppendPass("fw", block.forward, all);
  AppendTensor("fw_tp", block.tensor_forward, all);
  AppendPass("re", block.again, all);
  AppendTensor("recomm", block.tensor_again, all);
  AppendPass("agrad", block.activation_grad, all);
  AppendTensor("agrad_tp", block.tensor_backward, all);
  AppendPass("wgrad", block.weight_grad, all);
  AppendPass("optim", block.optimizer, all);
  return all;
}

Statistics BlockSizeStatistics(const CalculonBlockCost& block,
                               const CalculonDataCost& data) {
  return {{"baseblock_fw_tp_size", block.tensor_forward.bytes.base},
          {"edgeblock_fw_tp_size", block.tensor_forward.bytes.edge},
          {"baseblock_bw_tp_size", block.tensor_backward.bytes.base},
          {"edgeblock_bw_tp_size", block.tensor_backward.bytes.edge},
          {"baseblock_recomm_size", block.tensor_again.bytes.base},
          {"edgeblock_recomm_size", block.tensor_again.bytes.edge},
          {"block_fw_pp_size", block.message_forward},
          {"block_bw_pp_size", block.message_backward},
          {"block_dp_size", data.block_bytes},
          {"tp_bw_overlap_req", block.tensor_rate},
          {"dp_bw_overlap_req_chunk", data.chunk_rate},
          {"dp_bw_overlap_req_tail", data.tail_rate},
          {"block_weight_space", block.weights},
          {"block_act_working_space", block.working_activations},
          {"block_act_storage_space", block.stored_activations},
          {"block_act_checkpoint_size", block.checkpoint},
          {"block_weight_grad_space", block.weight_grads},
          {"block_weight_grad_space_no_sharding", block.whole_weight_grads},
          {"block_act_grad_space", block.activation_grads},
          {"block_optimizer_space", block.optimizer_state}};
}

Statistics SpaceStatistics(const CalculonSpace& space, bool training) {
  const CalculonSpaces& part = space.offloaded;
  const CalculonSpaces& whole = space.whole;
  return {{"weight_space_with_offload", part.weights},
          {"act_space_with_offload", part.activations},
          {"act_checkpoint_size_with_offload",
           training ? std::optional(part.checkpoints) : std::nullopt},
          {"act_grad_space_with_offload", part.activation_grads},
          {"weight_grad_space_with_offload", part.weight_grads},
          {"optimizer_space_with_offload", part.optimizer_state},
          {"weight_space", whole.weights},
          {"act_space", whole.activations},
          {"act_checkpoint_size", whole.checkpoints},
          {"act_grad_space", whole.activation_grads},
          {"weight_grad_space", whole.weight_grads},
          {"optimizer_space", whole.optimizer_state}};
}

Statistics TimeStatistics(const CalculonTimes& times) {
  return {{"fw_time", times.forward},
          {"bw_time", times.backward},
          {"optim_step_time", times.optimizer},
          {"recompute_time", times.recompute},
          {"recomm_link_time", times.tensor_again},
          {"recomm_exposed_time", times.tensor_again_exposed},
          {"bubble_time", times.bubble},
          {"tp_comm_link_time", times.tensor},
          {"pp_comm_link_time", times.pipeline},
          {"dp_comm_link_time", times.data.seconds},
          {"tp_comm_exposed_time", times.tensor_exposed},
          {"pp_comm_exposed_time", times.pipeline},
          {"dp_comm_exposed_time", times.data.exposed},
          {"fw_offload_exposed_time", times.forward_offload},
          {"bw_offload_exposed_time", times.backward_offload},
          {"total_time", times.total()}};
}

// A line of the table of times, left out where it is 0.
void AppendTime(std::string_view what, double seconds, double total,
                std::string* text) {
  if (seconds == 0) return;
  AppendFormat(text, "  {:<24}{:>14.6f} s {:>7.2f} %\n", what, seconds,
               100 * seconds / total);
}

}  // namespace

std::vector<CalculonStatistic> CalculonStatistics(const CalculonInputs& inputs,
                                                  const CalculonCost& cost) {
  Statistics all = BlockTimeStatistics(cost.block);
  Append(BlockSizeStatistics(cost.block, cost.times.data), all);
  Append(SpaceStatistics(cost.space, inputs.execution.training), all);
  Append(TimeStatistics(cost.times), all);
  Append({{"act_offload_bw_req", cost.offload_rates.activations},
          {"weight_offload_bw_req", cost.offload_rates.weights},
          {"optim_offload_bw_req", cost.offload_rates.optimizer},
          {"offload_mem_bw_req", cost.offload_rates.all},
          {"proc_mem_tier1_cap_req", cost.space.tier1},
          {"proc_mem_tier2_cap_req", cost.space.tier2},
          {"useful_flops", cost.block.useful_flops},
          {"compute_efficiency", cost.compute_efficiency},
          {"system_efficiency", cost.system_efficiency},
          {"total_efficiency", cost.total_efficiency},
          {"sample_rate", cost.sample_rate}},
         all);
  return all;
}

std::string CalculonJson(const CalculonInputs& inputs,
                         const CalculonCost& cost) {
  nlohmann::ordered_json json;
  for (const CalculonStatistic& one : CalculonStatistics(inputs, cost)) {
    nlohmann::ordered_json& value = json[one.name];
    if (one.value) value = *one.value;
  }
  return json.dump(2) + "\n";
}

std::string DescribeCalculon(const CalculonInputs& inputs,
                             const CalculonCost& cost) {
  const CalculonExecution& execution = inputs.execution;
  const CalculonTimes& times = cost.times;
  const double total = times.total();
  std::string text = fmt::format(
      "layout     TP {} x PP {} x DP {} = {} processors; {} micro-batches of "
      "{} sequences\n\nunder Calculon's assumptions\n",
      execution.tensor_par, execution.pipeline_par, execution.data_par,
      execution.num_procs, execution.micro_batches(),
      execution.microbatch_size);
  const auto time = [&](std::string_view what, double seconds) {
    AppendTime(what, seconds, total, &text);
  };
  time("iteration", total);
  time("forward", times.forward);
  time("backward", times.backward);
  time("optimizer", times.optimizer);
  time("recomputation", times.recompute);
  time("exposed TP", times.tensor_exposed);
  time("exposed TP, repeated", times.tensor_again_exposed);
  time("exposed PP", times.pipeline);
  time("exposed DP", times.data.exposed);
  time("exposed offloading", times.forward_offload + times.backward_offload);
  time("pipeline bubble", times.bubble);
  AppendFormat(&text,
               "  efficiency              {:.2f} %: {:.2f} % of the peak while "
               "computing, {:.2f} % of the time\n"
               "  sequences               {:.3f} per second\n",
               100 * cost.total_efficiency, 100 * cost.compute_efficiency,
               100 * cost.system_efficiency, cost.sample_rate);
  const CalculonSpaces& whole = cost.space.whole;
  AppendFormat(
      &text,
      "\nmemory of a processor in GiB\n"
      "  weights gradients optimizer activations checkpoints "
      "act. gradients     mem1     mem2\n"
      "  {:>7.2f} {:>9.2f} {:>9.2f} {:>11.2f} {:>11.2f} {:>14.2f} "
      "{:>8.2f} {:>8.2f}\n",
      whole.weights / kBytesPerGib, whole.weight_grads / kBytesPerGib,
      whole.optimizer_state / kBytesPerGib, whole.activations / kBytesPerGib,
      whole.checkpoints / kBytesPerGib, whole.activation_grads / kBytesPerGib,
      cost.space.tier1 / kBytesPerGib, cost.space.tier2 / kBytesPerGib);
  return text;
}

}  // namespace astra
