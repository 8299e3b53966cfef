#include "astra-core/planner/calculon/calculon_memory.h"

#include <algorithm>
#include <string_view>

#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/planner/calculon/calculon_schedule.h"
#include "fmt/core.h"

namespace astra {
namespace {

bool IsFull(const CalculonInputs& inputs) {
  return inputs.execution.activation_recompute == CalculonRecompute::kFull;
}

// Returns how many micro-batches a processor holds, by the size of all its
// blocks.
double InFlight(const CalculonInputs& inputs,
                const CalculonSchedule& schedule) {
  const double stages = static_cast<double>(inputs.execution.pipeline_par);
  const double chunks = static_cast<double>(schedule.chunks);
  const double held =
      std::min(static_cast<double>(schedule.micro_batches), stages);
  return chunks > 1 ? held * (1 + (stages - 1) / (chunks * stages)) : held;
}

CalculonSpaces WholeSpaces(const CalculonInputs& inputs,
                           const CalculonBlockCost& block) {
  const CalculonSchedule schedule = CalculonScheduleOf(inputs);
  const double blocks = static_cast<double>(schedule.blocks);
  CalculonSpaces spaces;
  spaces.weights = block.weights * blocks;
  spaces.activations = block.working_activations;
  if (!inputs.execution.training) return spaces;
  const double in_flight = InFlight(inputs, schedule);
  if (IsFull(inputs)) {
    spaces.checkpoints = blocks * block.checkpoint * in_flight;
  } else {
    spaces.activations += block.stored_activations * (blocks * in_flight - 1);
  }
  spaces.activation_grads = block.activation_grads;
  spaces.weight_grads =
      block.whole_weight_grads + block.weight_grads * (blocks - 1);
  spaces.optimizer_state = block.optimizer_state * blocks;
  return spaces;
}

CalculonSpaces OffloadedSpaces(const CalculonInputs& inputs,
                               const CalculonBlockCost& block) {
  // The block that runs, and the one that travels.
  constexpr double kBlocks = 2;
  CalculonSpaces spaces;
  spaces.weights = kBlocks * block.weights;
  spaces.activations = block.working_activations + block.stored_activations;
  if (!inputs.execution.training) return spaces;
  spaces.checkpoints = kBlocks * block.checkpoint;
  spaces.activation_grads = block.activation_grads;
  spaces.weight_grads = block.whole_weight_grads + block.weight_grads;
  spaces.optimizer_state = kBlocks * block.optimizer_state;
  return spaces;
}

absl::Status CheckTier(const CalculonSpace& space, std::string_view name,
                       double capacity, double needed) {
  if (needed <= capacity) return absl::OkStatus();
  const CalculonSpaces& whole = space.whole;
  return absl::InvalidArgumentError(fmt::format(
      "{} has {:.2f} GiB, but the execution needs {:.2f} GiB there; without "
      "offloading, a processor has {:.2f} GiB of weights, {:.2f} of "
      "activations, {:.2f} of checkpoints, {:.2f} and {:.2f} of gradients of "
      "activations and weights, and {:.2f} of the optimizer",
      name, capacity / kBytesPerGib, needed / kBytesPerGib,
      whole.weights / kBytesPerGib, whole.activations / kBytesPerGib,
      whole.checkpoints / kBytesPerGib, whole.activation_grads / kBytesPerGib,
      whole.weight_grads / kBytesPerGib, whole.optimizer_state / kBytesPerGib));
}

}  // namespace

CalculonSpace CalculonSpaceOf(const CalculonInputs& inputs,
                              const CalculonBlockCost& block) {
  const CalculonExecution& execution = inputs.execution;
  CalculonSpace space;
  space.whole = WholeSpaces(inputs, block);
  space.offloaded = OffloadedSpaces(inputs, block);
  const CalculonSpaces& whole = space.whole;
  const CalculonSpaces& offloaded = space.offloaded;
  const auto add = [&space](bool offloads, double all, double part,
                            double beyond) {
    space.tier1 += offloads ? part : all;
    if (offloads) space.tier2 += beyond;
  };
  add(execution.weight_offload, whole.weights, offloaded.weights,
      whole.weights);
  add(execution.activations_offload, whole.activations + whole.checkpoints,
      offloaded.activations + offloaded.checkpoints,
      IsFull(inputs) ? whole.checkpoints : whole.activations);
  add(execution.optimizer_offload, whole.weight_grads + whole.optimizer_state,
      offloaded.weight_grads + offloaded.optimizer_state,
      block.weight_grads *
              static_cast<double>(CalculonScheduleOf(inputs).blocks) +
          whole.optimizer_state);
  space.tier1 += whole.activation_grads;
  return space;
}

absl::Status CheckCalculonSpace(const CalculonSystem& system,
                                const CalculonSpace& space) {
  ASTRA_RETURN_IF_ERROR(
      CheckTier(space, "mem1", system.mem1.capacity, space.tier1));
  return CheckTier(space, "mem2", system.mem2.capacity, space.tier2);
}

}  // namespace astra
