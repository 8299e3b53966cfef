#include "astra-core/serving/cache_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

bool KeepsAll(const SequenceCache& cache) { return cache.bytes_per_token > 0; }

// Makes layers with a window count as if they kept all positions.
void KeepWindows(SequenceCache* cache) {
  cache->bytes_per_token += cache->window_bytes_per_token;
  cache->window_bytes_per_token = 0;
}

// Returns the caches of all stages, a draft model's on the last one. Its
// windows count in full length, and so do the model's if the engine keeps them
// or no other layers grow.
absl::StatusOr<std::vector<SequenceCache>> CachesOf(const ModelSpec& model,
                                                    const ServingLayout& layout,
                                                    const CacheUse& use) {
  ASTRA_ASSIGN_OR_RETURN(std::vector<SequenceCache> stages,
                         SequenceCachesOf(model, layout));
  if (!use.frees_windows ||
      std::none_of(stages.begin(), stages.end(), KeepsAll)) {
    for (SequenceCache& cache : stages) KeepWindows(&cache);
  }
  if (use.draft) {
    ASTRA_ASSIGN_OR_RETURN(
        std::vector<SequenceCache> of_draft,
        SequenceCachesOf(*use.draft, DraftLayoutOf(*use.draft, layout)));
    KeepWindows(&of_draft.front());
    stages.back().fixed_bytes += of_draft.front().fixed_bytes;
    stages.back().bytes_per_token += of_draft.front().bytes_per_token;
  }
  return stages;
}

// Returns the blocks of positions that a full window spans, which may begin and
// end within one.
int64_t BlocksOfWindow(const SequenceCache& cache, int64_t block_positions) {
  return (cache.window + block_positions - 1) / block_positions + 1;
}

// Returns the block of a stage; none where no layer keeps all positions.
std::optional<CacheBlock> BlockOf(const SequenceCache& cache,
                                  int64_t block_positions) {
  if (!KeepsAll(cache)) return std::nullopt;
  const double bytes =
      static_cast<double>(block_positions) * cache.bytes_per_token;
  CacheBlock block = {.bytes = Bytes(std::llround(bytes))};
  block.held.states = WholeBlocks(cache.fixed_bytes / bytes);
  block.held.windows_per_block =
      cache.window_bytes_per_token / cache.bytes_per_token;
  const int64_t full = BlocksOfWindow(cache, block_positions);
  block.held.most_windows =
      WholeBlocks(block.held.windows_per_block * static_cast<double>(full));
  return block;
}

// Returns what a sequence takes on a stage without blocks.
double BytesOfSequence(const SequenceCache& cache, int64_t block_positions) {
  const int64_t positions =
      BlocksOfWindow(cache, block_positions) * block_positions;
  return cache.fixed_bytes +
         cache.window_bytes_per_token * static_cast<double>(positions);
}

// Returns the blocks of the longest sequence, of a model without blocks; of a
// million positions where the model does not say.
int64_t BlocksOfLongest(const ModelSpec& model, int64_t block_positions) {
  constexpr int64_t kLongest = 1 << 20;
  const int64_t positions =
      model.max_positions > 0 ? model.max_positions : kLongest;
  return (positions + block_positions - 1) / block_positions;
}

// Returns the block of a model none of whose stages has one.
CacheBlock ShareOfState(const std::vector<SequenceCache>& caches,
                        const ModelSpec& model, int64_t block_positions) {
  double most = 0;
  for (const SequenceCache& cache : caches) {
    most = std::max(most, BytesOfSequence(cache, block_positions));
  }
  const auto blocks =
      static_cast<double>(BlocksOfLongest(model, block_positions));
  return {.bytes = Bytes(static_cast<int64_t>(std::ceil(most / blocks)))};
}

// Makes each number of `held` at least that of `other`.
void TakeMost(const HeldBlocks& other, HeldBlocks* held) {
  held->states = std::max(held->states, other.states);
  held->windows_per_block =
      std::max(held->windows_per_block, other.windows_per_block);
  held->most_windows = std::max(held->most_windows, other.most_windows);
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

// Lowers `room` to what a stage has that leaves so many bytes for its cache.
void AddStage(const SequenceCache& cache, const ModuleMemory& stage,
              double left, int64_t block_positions, CacheRoom* room) {
  const auto fit = [left](double bytes) {
    return static_cast<int64_t>(std::floor(left / bytes));
  };
  const std::optional<CacheBlock> block = BlockOf(cache, block_positions);
  if (!block) {
    const int64_t sequences = fit(BytesOfSequence(cache, block_positions));
    const bool is_least = sequences < room->max_sequences.value_or(
                                          std::numeric_limits<int64_t>::max());
    if (is_least) room->max_sequences = sequences;
    if (is_least && room->block.bytes == Bytes(0)) {
      room->weights = stage.weights;
      room->workspace = stage.workspace;
    }
    return;
  }
  const int64_t blocks = fit(static_cast<double>(block->bytes.count()));
  const bool is_first = room->block.bytes == Bytes(0);
  if (is_first || blocks < room->blocks) {
    room->blocks = blocks;
    room->weights = stage.weights;
    room->workspace = stage.workspace;
    room->block.bytes = block->bytes;
  }
  TakeMost(block->held, &room->block.held);
}

// Returns the bytes that the engine sets aside (see `reserve` of its facts).
double ReserveOf(const ServingFacts& facts, Bytes memory,
                 const ServingLayout& layout, int64_t step_tokens) {
  constexpr double kBytesPerMib = 1 << 20;
  return kBytesPerMib *
         facts.reserve.Of(ToGib(memory), step_tokens,
                          facts.graphs.empty() ? 0 : facts.graphs.back(),
                          layout.num_gpus());
}

// Returns whether a sequence of one token finds its blocks.
bool HasSequence(const CacheRoom& room) {
  return room.blocks >= 1 + room.block.held.Beside(1) &&
         room.max_sequences.value_or(1) > 0;
}

}  // namespace

void UseRoom(const CacheRoom& room, BatchingOptions* options) {
  options->num_blocks = room.blocks;
  options->held = room.block.held;
  options->max_sequences =
      std::min(options->max_sequences,
               room.max_sequences.value_or(options->max_sequences));
}

absl::StatusOr<CacheBlock> CacheBlockOf(const ModelSpec& model,
                                        const ServingLayout& layout,
                                        const ServingFacts& facts,
                                        const CacheUse& use) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<SequenceCache> caches,
                         CachesOf(model, layout, use));
  CacheBlock most;
  for (const SequenceCache& cache : caches) {
    const std::optional<CacheBlock> block =
        BlockOf(cache, facts.block_positions);
    if (!block) continue;
    most.bytes = std::max(most.bytes, block->bytes);
    TakeMost(block->held, &most.held);
  }
  if (most.bytes == Bytes(0)) {
    return ShareOfState(caches, model, facts.block_positions);
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
                         CachesOf(model, layout, use));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<ModuleMemory> stages,
                         HeldInStep(model, layout, use));
  const double reserve = ReserveOf(facts, memory, layout, use.step_tokens);
  CacheRoom room;
  for (size_t i = 0; i < stages.size(); ++i) {
    AddStage(caches[i], stages[i],
             LeftForCache(facts, memory, stages[i], reserve),
             facts.block_positions, &room);
  }
  if (room.block.bytes == Bytes(0)) {
    room.block = ShareOfState(caches, model, facts.block_positions);
    room.blocks = room.max_sequences.value_or(0) *
                  BlocksOfLongest(model, facts.block_positions);
  }
  if (HasSequence(room)) return room;
  return absl::FailedPreconditionError(fmt::format(
      "no room for the KV cache: weights of {:.1f} GiB, {:.1f} GiB of "
      "workspace and {:.1f} GiB of CUDA and NCCL fill the share of {} of the "
      "{:.1f} GiB of a GPU that the engine takes: expected more TP or PP, or a "
      "smaller precision",
      ToGib(room.weights), ToGib(room.workspace), ToGib(kDeviceOverhead),
      facts.memory_share, ToGib(memory)));
}

}  // namespace astra
