#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/plan/launch_parts.h"
#include "astra-core/base/append_format.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::string_view ScheduleName(PipelineSchedule schedule) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"gpipe", "GPipe"},
      {"1f1b", "1F1B"},
      {"interleaved", "Interleaved1F1B"},
      {"zb-v", "ZBVZeroBubble"}};
  for (const auto& [ours, theirs] : kNames) {
    if (Name(schedule) == ours) return theirs;
  }
  return "";
}

// Returns the modules of each part of the pipeline, as an array of TOML.
std::string ModelParts(const std::vector<int64_t>& layers) {
  std::string text = "[\n";
  int64_t layer = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    text += "  [";
    if (i == 0) text += "\"tok_embeddings\", ";
    for (int64_t end = layer + layers[i]; layer < end; ++layer) {
      AppendFormat(&text, "\"layers.{}\", ", layer);
    }
    if (i + 1 == layers.size()) text += "\"norm\", \"output\", ";
    text.resize(text.size() - 2);
    text += "],\n";
  }
  return text + "]";
}

std::string Training(const LaunchJob& launch, Notes& notes) {
  const TrainingSetup& setup = launch.setup;
  constexpr int64_t kFloatBytes = 4;
  if (setup.gradient_bytes != kFloatBytes) {
    notes.emplace_back("TorchTitan reduces gradients in FP32, not in BF16");
  }
  // One pass of the schedule takes the whole batch of a replica.
  const int64_t local = setup.pipeline > 1
                            ? setup.micro_batches() * setup.micro_batch
                            : setup.micro_batch;
  std::string text = fmt::format(
      "[training]\nlocal_batch_size = {}\nglobal_batch_size = {}\n"
      "seq_len = {}\nmixed_precision_reduce = \"float32\"\n",
      local, setup.global_batch, setup.positions);
  if (setup.tensor_overlap) text += "compile = true\n";
  return text;
}

std::string Pipeline(const LaunchJob& launch, Notes& notes) {
  const Layout& layout = launch.layout;
  std::string text =
      fmt::format("pipeline_parallel_degree = {}\n", layout.pipeline);
  if (layout.pipeline == 1) return text;
  const std::string_view schedule = ScheduleName(layout.schedule);
  if (schedule.empty()) NoteSchedule(launch, "TorchTitan", notes);
  if (!schedule.empty()) {
    AppendFormat(&text, "pipeline_parallel_schedule = \"{}\"\n", schedule);
  }
  AppendFormat(&text,
               "pipeline_parallel_microbatch_size = {}\n"
               "module_fqns_per_model_part = {}\n",
               layout.micro_batch, ModelParts(launch.layers));
  return text;
}

std::string Context(const LaunchJob& launch, Notes& notes) {
  const Layout& layout = launch.layout;
  std::string text =
      fmt::format("context_parallel_degree = {}\n", layout.context);
  if (layout.context == 1) return text;
  if (layout.context_method == ContextMethod::kAllToAll) {
    notes.emplace_back(
        "TorchTitan has no context parallelism by heads: it gathers keys and "
        "values");
  }
  AppendFormat(
      &text, "context_parallel_rotate_method = \"{}\"\n",
      layout.context_method == ContextMethod::kRing ? "alltoall" : "allgather");
  return text;
}

std::string Parallelism(const LaunchJob& launch, Notes& notes) {
  const Layout& layout = launch.layout;
  const bool is_sharded = layout.zero == Zero::kParameters;
  const int64_t data = launch.setup.data();
  if (!is_sharded && layout.zero != Zero::kNone) {
    notes.push_back(
        fmt::format("TorchTitan has no ZeRO {}: it shards all "
                    "states",
                    static_cast<int>(layout.zero)));
  }
  const bool replicates = layout.zero == Zero::kNone;
  std::string text = fmt::format(
      "[parallelism]\ndata_parallel_replicate_degree = {}\n"
      "data_parallel_shard_degree = {}\ntensor_parallel_degree = {}\n",
      replicates ? data : 1, replicates ? 1 : data, layout.tensor);
  if (launch.setup.tensor_overlap) {
    text += "enable_async_tensor_parallel = true\n";
  }
  if (layout.tensor > 1 && !layout.sequence_parallel) {
    notes.emplace_back("TorchTitan has no TP without sequence parallelism");
  }
  if (layout.order != RankOrder()) NoteOrder(launch, "TorchTitan", notes);
  text += Pipeline(launch, notes) + Context(launch, notes);
  if (launch.job.model.experts) {
    AppendFormat(&text, "expert_parallel_degree = {}\n", layout.expert);
    if (layout.expert_tensor != 1) {
      notes.push_back(fmt::format("TorchTitan has no ETP {} in this form",
                                  layout.expert_tensor));
    }
  }
  if (launch.dispatcher) {
    notes.push_back(
        fmt::format("TorchTitan has no dispatcher {}: it calls "
                    "NCCL",
                    *launch.dispatcher));
  }
  return text;
}

// Returns the configuration of full recomputation of some blocks: TorchTitan
// repeats every k-th block of a rank, counted over its parts.
std::string EveryFewBlocks(const LaunchJob& launch, Notes& notes) {
  const RecomputeChoice& recompute = launch.layout.recompute;
  int64_t blocks = 0;
  int64_t again = 0;
  for (const ModelPart& part : launch.first_stage) {
    const int64_t of_part = part.end_layer - part.first_layer;
    blocks += of_part;
    again += std::min(of_part, recompute.layers);
  }
  const int64_t every = std::max<int64_t>(1, blocks / again);
  if (blocks / every != again) {
    const std::string which =
        every == 1 ? "all layers" : fmt::format("1 of every {} layers", every);
    notes.push_back(
        fmt::format("TorchTitan recomputes {}: {} of the {} of a rank, not {}",
                    which, blocks / every, blocks, again));
  }
  return fmt::format("mode = \"selective\"\nselective_ac_option = \"{}\"\n",
                     every);
}

std::string Recomputation(const LaunchJob& launch, Notes& notes) {
  const RecomputeChoice& recompute = launch.layout.recompute;
  const std::string head = "[activation_checkpoint]\n";
  switch (recompute.kind) {
    case Recompute::kNone:
      return head + "mode = \"none\"\n";
    case Recompute::kSelective:
      if (launch.setup.recompute_modules != RecomputeModule::kOperators) {
        notes.push_back(
            fmt::format("TorchTitan recomputes by operators (op), not {}",
                        JoinedNames(launch.setup.recompute_modules)));
      }
      return head + "mode = \"selective\"\nselective_ac_option = \"op\"\n";
    case Recompute::kFull:
      break;
  }
  if (recompute.IsPartial()) return head + EveryFewBlocks(launch, notes);
  if (recompute.layers > 1) {
    notes.push_back(
        fmt::format("TorchTitan recomputes layers one by one, not {} at a time",
                    recompute.layers));
  }
  return head + "mode = \"full\"\n";
}

}  // namespace

std::vector<NamedFile> TorchTitanFiles(const LaunchJob& launch, Notes& notes) {
  std::string text = "# For TorchTitan of August 2025.\n";
  text += Training(launch, notes) + "\n";
  text += Parallelism(launch, notes) + "\n";
  text += Recomputation(launch, notes);
  return {{"torchtitan.toml", std::move(text)}};
}

}  // namespace astra
