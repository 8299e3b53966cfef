#include "astra-core/serving/cache_memory.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/status_macros.h"
#include "astra-core/serving/draft_times.h"
#include "fmt/core.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/inference.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

// Sums the weights and the cache of a stage; the largest workspace counts.
ModuleMemory MemoryOf(const Blueprint& blueprint, const ProgramStage& stage,
                      const ServingLayout& layout) {
  constexpr double kBf16Bytes = 2;
  const double saved_share =
      layout.mxfp4_experts ? kBf16Bytes * (1 - kMxfp4Share) : 0;
  ModuleMemory sum;
  for (const ModuleRun& run : stage.runs) {
    for (const ModuleId id : run.modules) {
      const MockModule& module = blueprint.modules[id.index()];
      const ModuleMemory& memory = module.memory;
      const int64_t saved = std::llround(
          saved_share * static_cast<double>(module.expert_parameters));
      sum.weights += Bytes(run.times * (memory.weights.count() - saved));
      sum.cache +=
          Bytes(run.times * memory.cache.count() / (layout.fp8_cache ? 2 : 1));
      sum.workspace = std::max(sum.workspace, memory.workspace);
    }
  }
  return sum;
}

// Returns the weights of a draft model, and its share of a block.
absl::StatusOr<ModuleMemory> DraftMemory(const ModelSpec& draft,
                                         const ServingLayout& layout,
                                         int64_t block_positions) {
  const ServingLayout of_draft = DraftLayoutOf(draft, layout);
  InferenceSetup setup = SetupOf(of_draft);
  setup.positions = block_positions;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint blueprint,
                         InferenceBlueprint(draft, setup));
  return MemoryOf(blueprint, blueprint.stages.front(), of_draft);
}

// Returns the bytes that a stage which holds `held` leaves for the cache.
double LeftForCache(const ServingFacts& facts, Bytes memory,
                    const ModuleMemory& held, double reserve) {
  const auto bytes = [](Bytes of) { return static_cast<double>(of.count()); };
  const double all = bytes(memory);
  const double others = bytes(kDeviceOverhead + held.workspace);
  const double weights = bytes(held.weights);
  switch (facts.memory_of) {
    case MemoryShareOf::kAll:
      break;
    case MemoryShareOf::kStatic:
      // What is free before the weights are there counts as the whole.
      if (facts.memory_share == 0) {
        return all - reserve - bytes(kDeviceOverhead) - weights;
      }
      return facts.memory_share * all - weights;
    case MemoryShareOf::kFree:
      return facts.memory_share * (all - others - weights);
  }
  return facts.memory_share * all - others - weights;
}

}  // namespace

absl::StatusOr<Bytes> BytesOfBlock(const ModelSpec& model,
                                   const ServingLayout& layout,
                                   const ServingFacts& facts) {
  InferenceSetup setup = SetupOf(layout);
  setup.positions = facts.block_positions;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint block,
                         InferenceBlueprint(model, setup));
  Bytes most;
  for (const ProgramStage& stage : block.stages) {
    most = std::max(most, MemoryOf(block, stage, layout).cache);
  }
  return most;
}

absl::StatusOr<Bytes> BytesOfWeights(const ModelSpec& model,
                                     const ServingLayout& layout) {
  ASTRA_ASSIGN_OR_RETURN(const Blueprint blueprint,
                         InferenceBlueprint(model, SetupOf(layout)));
  Bytes most;
  for (const ProgramStage& stage : blueprint.stages) {
    most = std::max(most, MemoryOf(blueprint, stage, layout).weights);
  }
  return most;
}

Bytes MemoryOf(const GpuSpec& gpu) {
  constexpr double kReported = 0.99;
  const double gib =
      gpu.cuda_gib > 0 ? gpu.cuda_gib : kReported * gpu.memory_gb;
  return Bytes(std::llround(gib * kBytesPerGib));
}

absl::StatusOr<CacheRoom> RoomForCache(const ModelSpec& model,
                                       const ServingLayout& layout,
                                       const ServingFacts& facts, Bytes memory,
                                       int64_t step_tokens,
                                       const std::optional<ModelSpec>& draft) {
  InferenceSetup setup = SetupOf(layout);
  setup.positions = facts.block_positions;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint block,
                         InferenceBlueprint(model, setup));
  // One sequence, or as many as learned positions allow.
  setup.positions = model.positions == Positions::kLearned
                        ? std::min(step_tokens, model.max_positions)
                        : step_tokens;
  setup.batch = (step_tokens + setup.positions - 1) / setup.positions;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint step,
                         InferenceBlueprint(model, setup));
  constexpr double kBytesPerMib = 1 << 20;
  const double reserve =
      kBytesPerMib *
      facts.reserve.Of(ToGib(memory), step_tokens,
                       facts.graphs.empty() ? 0 : facts.graphs.back(),
                       layout.num_gpus());
  CacheRoom room;
  for (size_t i = 0; i < step.stages.size(); ++i) {
    ModuleMemory held = MemoryOf(step, step.stages[i], layout);
    Bytes of_block = MemoryOf(block, block.stages[i], layout).cache;
    if (draft && i + 1 == step.stages.size()) {
      ASTRA_ASSIGN_OR_RETURN(
          const ModuleMemory of_draft,
          DraftMemory(*draft, layout, facts.block_positions));
      held.weights += of_draft.weights;
      of_block += of_draft.cache;
    }
    const auto blocks = static_cast<int64_t>(
        std::floor(LeftForCache(facts, memory, held, reserve) /
                   static_cast<double>(of_block.count())));
    if (i > 0 && blocks >= room.blocks) continue;
    room = {blocks, held.weights, held.workspace, of_block};
  }
  if (room.blocks > 0) return room;
  return absl::FailedPreconditionError(fmt::format(
      "no room for the KV cache: weights of {:.1f} GiB, {:.1f} GiB of "
      "workspace and {:.1f} GiB of CUDA and NCCL fill the share of {} of the "
      "{:.1f} GiB of a GPU that the engine takes: expected more TP or PP, or a "
      "smaller precision",
      ToGib(room.weights), ToGib(room.workspace), ToGib(kDeviceOverhead),
      facts.memory_share, ToGib(memory)));
}

}  // namespace astra
