#include "astra-core/serving/cache_memory.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "astra-core/serving/draft_times.h"
#include "astra-core/serving/sequence_cache.h"
#include "fmt/core.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/inference.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

// Sums the weights of a stage; the largest workspace counts.
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
      sum.workspace = std::max(sum.workspace, memory.workspace);
    }
  }
  return sum;
}

// Returns the weights of a draft model.
absl::StatusOr<Bytes> DraftWeights(const ModelSpec& draft,
                                   const ServingLayout& layout) {
  const ServingLayout of_draft = DraftLayoutOf(draft, layout);
  ASTRA_ASSIGN_OR_RETURN(const Blueprint blueprint,
                         InferenceBlueprint(draft, SetupOf(of_draft)));
  return MemoryOf(blueprint, blueprint.stages.front(), of_draft).weights;
}

// Returns the caches of all stages, a draft model's on the last one. Its
// windows count in full length, as if its layers kept all positions.
absl::StatusOr<std::vector<SequenceCache>> CachesWith(
    const std::optional<ModelSpec>& draft, const ModelSpec& model,
    const ServingLayout& layout) {
  ASTRA_ASSIGN_OR_RETURN(std::vector<SequenceCache> caches,
                         SequenceCachesOf(model, layout));
  if (!draft) return caches;
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<SequenceCache> of_draft,
      SequenceCachesOf(*draft, DraftLayoutOf(*draft, layout)));
  SequenceCache& last = caches.back();
  last.fixed_bytes += of_draft.front().fixed_bytes;
  last.bytes_per_token += of_draft.front().bytes_per_token +
                          of_draft.front().window_bytes_per_token;
  return caches;
}

// Returns the blocks of one stage. Where nothing but windows grows, they count
// in full length, and where nothing grows, a block is a state.
CacheBlock BlockOf(const SequenceCache& cache, int64_t positions,
                   bool frees_windows) {
  const bool frees = frees_windows && cache.bytes_per_token > 0;
  const double growing =
      cache.bytes_per_token + (frees ? 0 : cache.window_bytes_per_token);
  if (growing == 0) return {Bytes(std::llround(cache.fixed_bytes)), 0};
  const auto of = [positions](double bytes_per_token) {
    return static_cast<double>(positions) * bytes_per_token;
  };
  const int64_t window_blocks = (cache.window + positions - 1) / positions + 1;
  const double held =
      cache.fixed_bytes + (frees ? static_cast<double>(window_blocks) *
                                       of(cache.window_bytes_per_token)
                                 : 0);
  return {Bytes(std::llround(of(growing))),
          static_cast<int64_t>(std::ceil(held / of(growing)))};
}

// Returns what a GPU of each stage holds in a step of the most tokens.
absl::StatusOr<std::vector<ModuleMemory>> HeldInStep(
    const ModelSpec& model, const ServingLayout& layout, const CacheUse& use) {
  InferenceSetup setup = SetupOf(layout);
  // One sequence, or as many as learned positions allow.
  setup.positions = model.positions == Positions::kLearned
                        ? std::min(use.step_tokens, model.max_positions)
                        : use.step_tokens;
  setup.batch = (use.step_tokens + setup.positions - 1) / setup.positions;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint step,
                         InferenceBlueprint(model, setup));
  std::vector<ModuleMemory> stages;
  for (const ProgramStage& stage : step.stages) {
    stages.insert(stages.end(), static_cast<size_t>(stage.count),
                  MemoryOf(step, stage, layout));
  }
  if (use.draft) {
    ASTRA_ASSIGN_OR_RETURN(const Bytes weights,
                           DraftWeights(*use.draft, layout));
    stages.back().weights += weights;
  }
  return stages;
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

absl::StatusOr<CacheBlock> CacheBlockOf(const ModelSpec& model,
                                        const ServingLayout& layout,
                                        const ServingFacts& facts,
                                        bool frees_windows) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<SequenceCache> caches,
                         SequenceCachesOf(model, layout));
  CacheBlock most;
  for (const SequenceCache& cache : caches) {
    const CacheBlock block =
        BlockOf(cache, facts.block_positions, frees_windows);
    most.bytes = std::max(most.bytes, block.bytes);
    most.of_sequence = std::max(most.of_sequence, block.of_sequence);
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
                                       const CacheUse& use) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<SequenceCache> caches,
                         CachesWith(use.draft, model, layout));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<ModuleMemory> stages,
                         HeldInStep(model, layout, use));
  constexpr double kBytesPerMib = 1 << 20;
  const double reserve =
      kBytesPerMib *
      facts.reserve.Of(ToGib(memory), use.step_tokens,
                       facts.graphs.empty() ? 0 : facts.graphs.back(),
                       layout.num_gpus());
  CacheRoom room;
  for (size_t i = 0; i < stages.size(); ++i) {
    const CacheBlock block =
        BlockOf(caches[i], facts.block_positions, use.frees_windows);
    const int64_t of_sequence =
        std::max(room.block.of_sequence, block.of_sequence);
    const auto blocks = static_cast<int64_t>(
        std::floor(LeftForCache(facts, memory, stages[i], reserve) /
                   static_cast<double>(block.bytes.count())));
    if (i == 0 || blocks < room.blocks) {
      room = {blocks, stages[i].weights, stages[i].workspace, block};
    }
    room.block.of_sequence = of_sequence;
  }
  if (room.blocks > room.block.of_sequence) return room;
  return absl::FailedPreconditionError(fmt::format(
      "no room for the KV cache: weights of {:.1f} GiB, {:.1f} GiB of "
      "workspace and {:.1f} GiB of CUDA and NCCL fill the share of {} of the "
      "{:.1f} GiB of a GPU that the engine takes: expected more TP or PP, or a "
      "smaller precision",
      ToGib(room.weights), ToGib(room.workspace), ToGib(kDeviceOverhead),
      facts.memory_share, ToGib(memory)));
}

}  // namespace astra
