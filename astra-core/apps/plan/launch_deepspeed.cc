#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/plan/launch_parts.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

std::string Config(const LaunchJob& launch) {
  const TrainingSetup& setup = launch.setup;
  const bool hides_gradients =
      setup.zero >= Zero::kGradients || setup.overlap_gradients;
  return JsonText(
      {{"train_batch_size", setup.global_batch},
       {"train_micro_batch_size_per_gpu", setup.micro_batch},
       {"gradient_accumulation_steps", setup.micro_batches()},
       {"bf16", {{"enabled", true}}},
       {"data_types",
        {{"grad_accum_dtype", setup.gradient_bytes == 4 ? "fp32" : "bf16"}}},
       {"zero_optimization",
        {{"stage", static_cast<int>(setup.zero)},
         {"overlap_comm", hides_gradients}}}});
}

void AppendRecompute(const LaunchJob& launch, OptionLines& lines,
                     Notes& notes) {
  const RecomputeChoice& recompute = launch.layout.recompute;
  if (recompute.kind == Recompute::kNone) return;
  if (recompute.kind == Recompute::kSelective) {
    lines.Word("recompute-granularity", "selective");
    if (launch.setup.recompute_modules != RecomputeModule::kCoreAttention) {
      notes.push_back(
          fmt::format("Megatron-DeepSpeed recomputes core_attn, not {}",
                      JoinedNames(launch.setup.recompute_modules)));
    }
    return;
  }
  const int64_t layers = std::max<int64_t>(1, recompute.layers);
  if (recompute.IsPartial()) {
    lines.Word("recompute-granularity", "full");
    lines.Word("recompute-method", "block");
    lines.Number("recompute-num-layers", layers);
    return;
  }
  lines.Flag("checkpoint-activations");
  lines.Number("checkpoint-num-layers", layers);
  lines.Flag("deepspeed-activation-checkpointing");
}

void AppendContext(const LaunchJob& launch, OptionLines& lines, Notes& notes) {
  const Layout& layout = launch.layout;
  lines.Flag("sequence-parallel", layout.sequence_parallel);
  if (layout.context == 1) return;
  lines.Number("ds-sequence-parallel-size", layout.context);
  if (layout.sequence_parallel) {
    notes.emplace_back(
        "Megatron-DeepSpeed has no sequence parallelism of TP beside that of "
        "DeepSpeed, which stands for CP");
  }
  if (layout.context_method != ContextMethod::kAllToAll) {
    notes.push_back(fmt::format(
        "DeepSpeed exchanges positions for heads (--cp-method all-to-all), not "
        "by {}",
        NameOf(layout.context_method)));
  }
}

void NotePipeline(const LaunchJob& launch, Notes& notes) {
  const Layout& layout = launch.layout;
  if (layout.pipeline == 1) return;
  if (layout.schedule != DefaultSchedule(1)) {
    NoteSchedule(launch, "DeepSpeed", notes);
  }
  if (std::adjacent_find(launch.layers.begin(), launch.layers.end(),
                         std::not_equal_to<>()) != launch.layers.end()) {
    notes.emplace_back(
        "DeepSpeed spreads layers over stages by parameters, not as the plan "
        "does");
  }
}

}  // namespace

std::vector<NamedFile> DeepSpeedFiles(const LaunchJob& launch, Notes& notes) {
  const Layout& layout = launch.layout;
  OptionLines lines;
  lines.Flag("deepspeed");
  lines.Word("deepspeed_config", "ds_config.json");
  lines.Number("zero-stage", static_cast<int64_t>(launch.setup.zero));
  lines.Number("num-layers", launch.job.model.layers);
  lines.Number("hidden-size", launch.job.model.hidden);
  lines.Number("seq-length", launch.setup.positions);
  lines.Number("tensor-model-parallel-size", layout.tensor);
  lines.Number("pipeline-model-parallel-size", layout.pipeline);
  lines.Flag("no-pipeline-parallel", layout.pipeline == 1);
  if (launch.job.model.experts) {
    lines.Number("moe-expert-parallel-size", layout.expert);
    if (layout.expert_tensor != layout.tensor) {
      notes.push_back(
          fmt::format("Megatron-DeepSpeed has no ETP: experts are split over "
                      "TP, not over {}",
                      layout.expert_tensor));
    }
  }
  if (launch.dispatcher) {
    notes.push_back(fmt::format("DeepSpeed has no dispatcher {}: it calls NCCL",
                                *launch.dispatcher));
  }
  lines.Number("micro-batch-size", layout.micro_batch);
  lines.Number("global-batch-size", launch.setup.global_batch);
  AppendContext(launch, lines, notes);
  NotePipeline(launch, notes);
  if (layout.order != RankOrder()) NoteOrder(launch, "DeepSpeed", notes);
  AppendRecompute(launch, lines, notes);
  return {{"ds_config.json", Config(launch)}, {"deepspeed.txt", lines.text()}};
}

}  // namespace astra
