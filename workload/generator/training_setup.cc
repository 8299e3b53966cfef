#include "workload/generator/training_setup.h"

#include <algorithm>

namespace astra {

ParallelSizes TrainingSetup::sizes() const {
  return {.num_ranks = world_size,
          .tensor = tensor,
          .context = context,
          .expert = expert,
          .expert_tensor = expert_tensor,
          .pipeline = pipeline,
          .virtual_stages = chunks(),
          .micro_batches = micro_batches(),
          .order = order};
}

PipelineSchedule TrainingSetup::pipeline_schedule() const {
  return schedule.value_or(DefaultSchedule(virtual_stages));
}

int64_t TrainingSetup::chunks() const {
  if (virtual_stages > 1) return virtual_stages;
  return std::max<int64_t>(1, pipeline_schedule()->chunks);
}

ModuleContext TrainingSetup::module_context() const {
  return {.tensor = tensor,
          .context = context,
          .expert = expert,
          .expert_tensor = expert_tensor.value_or(tensor),
          .sequence_parallel = sequence_parallel,
          .tensor_overlap = tensor_overlap,
          .context_method = context_method,
          .sequences = micro_batch,
          .positions = positions,
          .past = 0,
          .training = true,
          .precision = precision,
          .flash_attention = flash_attention,
          .fused_loss = fused_loss,
          .loss_metrics = loss_metrics,
          .loss_workspace = loss_workspace,
          .keeps_both_outputs = keeps_both_outputs(),
          .weights_in_experts = weights_in_experts,
          .fp8_activation_inputs = fp8_activation_inputs,
          .shared_output_bits = shared_output_bits,
          .gradient_bytes = gradient_bytes,
          .expert_host_ns = expert_host_ns,
          .fused_experts = fused_experts,
          .expert_load = expert_load,
          .fp8_dispatch = fp8_dispatch,
          .shared_expert_overlap = shared_expert_overlap};
}

void SetOverlaps(const Overlaps& overlaps, bool has_shared_experts,
                 TrainingSetup& setup) {
  setup.overlap_gradients = overlaps.gradients && setup.zero < Zero::kGradients;
  setup.overlap_parameters =
      overlaps.parameters && setup.zero == Zero::kOptimizer;
  setup.tensor_overlap =
      overlaps.tensor && setup.tensor > 1 && setup.sequence_parallel;
  setup.shared_expert_overlap =
      overlaps.shared_experts && has_shared_experts && setup.expert > 1;
}

Overlaps OverlapsOf(const TrainingSetup& setup) {
  return {.gradients = setup.overlap_gradients,
          .parameters = setup.overlap_parameters,
          .tensor = setup.tensor_overlap,
          .shared_experts = setup.shared_expert_overlap};
}

void KeepStagesWhole(TrainingSetup& setup) {
  if (setup.pipeline == 1 || setup.zero < Zero::kGradients) return;
  setup.zero = Zero::kOptimizer;
  setup.overlap_gradients = true;
  setup.overlap_parameters = true;
  setup.bucket_size = 1;
}

}  // namespace astra
