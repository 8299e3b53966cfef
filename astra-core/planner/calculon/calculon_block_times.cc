#include "astra-core/planner/calculon/calculon_block_times.h"

#include <algorithm>

#include "astra-core/planner/calculon/calculon_machine.h"

namespace astra {
namespace {

// Returns the activations of a block that offloading moves.
double OffloadedActivations(const CalculonInputs& inputs,
                            const CalculonBlockCost& block) {
  if (!inputs.execution.activations_offload) return 0;
  return inputs.execution.activation_recompute == CalculonRecompute::kFull
             ? block.checkpoint
             : block.stored_activations;
}

// Returns what is exposed of an offload beside blocks that take `seconds`, in
// which accesses to memory do not overlap with it.
CalculonPair ExposedOffload(const CalculonInputs& inputs, double bytes,
                            double accesses, const CalculonPair& seconds) {
  const double busy =
      CalculonSeconds(inputs.system.mem2.rate, bytes) + accesses;
  return {std::max(0.0, busy - seconds.base),
          std::max(0.0, busy - seconds.edge)};
}

}  // namespace

CalculonBlockTimes CalculonBlockTimesOf(const CalculonInputs& inputs,
                                        const CalculonBlockCost& block) {
  const CalculonNetwork& network =
      inputs.system.networks[inputs.execution.pipeline_par_net];
  const auto message = [&network](double bytes) {
    return CalculonNetworkSeconds(network, CalculonOp::kPointToPoint, bytes, 2);
  };
  CalculonBlockTimes times;
  times.forward_message = message(block.message_forward);
  times.backward_message = message(block.message_backward);
  const CalculonPair& forward = block.tensor_forward.exposed;
  times.forward = {
      block.forward.seconds + forward.base,
      block.forward.seconds + forward.edge + times.forward_message};
  const CalculonPair& again = block.tensor_again.exposed;
  const CalculonPair& backward = block.tensor_backward.exposed;
  const double gradients =
      block.activation_grad.seconds + block.weight_grad.seconds;
  times.backward = {
      block.again.seconds + again.base + gradients + backward.base,
      block.again.seconds + again.edge + gradients + backward.edge +
          times.backward_message};
  times.forward_offload =
      ExposedOffload(inputs, CalculonForwardOffload(inputs, block),
                     block.forward.memory_seconds, times.forward);
  times.backward_offload = ExposedOffload(
      inputs, CalculonBackwardOffload(inputs, block),
      block.activation_grad.memory_seconds + block.weight_grad.memory_seconds,
      times.backward);
  return times;
}

double CalculonForwardOffload(const CalculonInputs& inputs,
                              const CalculonBlockCost& block) {
  const double weights = inputs.execution.weight_offload ? block.weights : 0;
  return std::max(weights, OffloadedActivations(inputs, block));
}

double CalculonBackwardOffload(const CalculonInputs& inputs,
                               const CalculonBlockCost& block) {
  const CalculonExecution& execution = inputs.execution;
  if (!execution.training) return 0;
  return (execution.weight_offload ? block.weights : 0) +
         OffloadedActivations(inputs, block) +
         (execution.optimizer_offload ? block.optimizer_state : 0);
}

}  // namespace astra
