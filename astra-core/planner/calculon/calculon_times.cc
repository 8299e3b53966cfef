#include "astra-core/planner/calculon/calculon_times.h"

#include <cstdint>

#include "astra-core/planner/calculon/calculon_schedule.h"

namespace astra {
namespace {

double BubbleOf(const CalculonInputs& inputs, const CalculonSchedule& schedule,
                const CalculonBlockTimes& times) {
  const CalculonPair forward = times.whole_forward();
  const CalculonPair backward = times.whole_backward();
  const double chunk = schedule.OfChunk(forward) + schedule.OfChunk(backward);
  // A processor with a block less saves one between a base and an edge block.
  const double edge = forward.edge + backward.edge;
  const double saved = schedule.chunk_blocks > 1
                           ? (forward.base + backward.base + edge) / 2
                           : edge;
  const int64_t stages = inputs.execution.pipeline_par;
  const int64_t rest = schedule.micro_batches % stages;
  const int64_t shortage = rest == 0 ? 0 : stages - rest;
  const int64_t extra = (schedule.chunks - 1) * shortage;
  return static_cast<double>(stages - 1 + extra) * chunk -
         static_cast<double>(schedule.missing_blocks) * saved;
}

}  // namespace

double CalculonTimes::total() const {
  return computing() + forward_offload + backward_offload + recompute +
         tensor_again_exposed + bubble + tensor_exposed + pipeline +
         data.exposed;
}

CalculonTimes CalculonTimesOf(const CalculonInputs& inputs,
                              const CalculonBlockCost& block) {
  const CalculonSchedule schedule = CalculonScheduleOf(inputs);
  const double blocks = static_cast<double>(schedule.blocks);
  const double runs = static_cast<double>(schedule.blocks) *
                      static_cast<double>(schedule.micro_batches);
  CalculonTimes times;
  times.block = CalculonBlockTimesOf(inputs, block);
  times.forward = runs * block.forward.seconds;
  times.backward =
      runs * block.activation_grad.seconds + runs * block.weight_grad.seconds;
  times.optimizer = blocks * block.optimizer.seconds;
  times.recompute = runs * block.again.seconds;
  times.tensor_again = schedule.OfIteration(block.tensor_again.seconds);
  times.tensor_again_exposed = schedule.OfIteration(block.tensor_again.exposed);
  times.bubble = BubbleOf(inputs, schedule, times.block);
  times.tensor = schedule.OfIteration(block.tensor_forward.seconds) +
                 schedule.OfIteration(block.tensor_backward.seconds);
  times.tensor_exposed = schedule.OfIteration(block.tensor_forward.exposed) +
                         schedule.OfIteration(block.tensor_backward.exposed);
  if (inputs.execution.pipeline_par > 1) {
    const double messages =
        static_cast<double>(schedule.micro_batches * schedule.chunks);
    times.pipeline =
        messages * times.block.forward_message +
        (inputs.execution.training ? messages * times.block.backward_message
                                   : 0);
  }
  times.forward_offload = schedule.OfIteration(times.block.forward_offload);
  times.backward_offload = schedule.OfIteration(times.block.backward_offload);
  times.data = CalculonDataCostOf(inputs, block, times.block);
  return times;
}

}  // namespace astra
