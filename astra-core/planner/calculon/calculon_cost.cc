#include "astra-core/planner/calculon/calculon_cost.h"

#include <algorithm>

#include "astra-core/planner/calculon/calculon_schedule.h"

namespace astra {
namespace {

std::optional<double> Rate(double bytes, double seconds) {
  if (seconds <= 0) return std::nullopt;
  return bytes / seconds;
}

CalculonOffloadRates OffloadRatesOf(const CalculonInputs& inputs,
                                    const CalculonBlockCost& block,
                                    const CalculonBlockTimes& times) {
  const bool is_full =
      inputs.execution.activation_recompute == CalculonRecompute::kFull;
  const double forward = std::min(times.forward.base, times.forward.edge) -
                         block.forward.memory_seconds;
  CalculonOffloadRates rates;
  rates.activations =
      Rate(is_full ? block.checkpoint : block.stored_activations, forward);
  rates.weights = Rate(block.weights, forward);
  rates.all = Rate(CalculonForwardOffload(inputs, block), forward);
  rates.optimizer = 0;
  if (!inputs.execution.training) return rates;
  const double backward =
      std::min(times.backward.base, times.backward.edge) -
      (block.activation_grad.memory_seconds + block.weight_grad.memory_seconds);
  rates.optimizer = Rate(block.weight_grads + block.optimizer_state, backward);
  const std::optional<double> all =
      Rate(CalculonBackwardOffload(inputs, block), backward);
  // Without a rate in one of the passes there is none of both.
  rates.all = rates.all && all ? std::optional(std::max(*rates.all, *all))
                               : std::nullopt;
  return rates;
}

}  // namespace

CalculonCost CalculonCostOf(const CalculonInputs& inputs) {
  const CalculonSchedule schedule = CalculonScheduleOf(inputs);
  CalculonCost cost;
  cost.block = CalculonBlockCostOf(inputs);
  cost.times = CalculonTimesOf(inputs, cost.block);
  cost.space = CalculonSpaceOf(inputs, cost.block);
  cost.offload_rates = OffloadRatesOf(inputs, cost.block, cost.times.block);
  const double ideal = static_cast<double>(schedule.blocks) *
                       static_cast<double>(schedule.micro_batches) *
                       cost.block.useful_flops / inputs.system.matrix.peak;
  const double total = cost.times.total();
  cost.compute_efficiency = ideal / cost.times.computing();
  cost.system_efficiency = cost.times.computing() / total;
  cost.total_efficiency = ideal / total;
  cost.sample_rate = static_cast<double>(inputs.execution.batch_size) / total;
  return cost;
}

}  // namespace astra
