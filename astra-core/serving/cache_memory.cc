#include "astra-core/serving/cache_memory.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/inference.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

constexpr double kBytesPerGib = 1 << 30;

// Sums the weights and the cache of a stage; the largest workspace counts.
ModuleMemory MemoryOf(const Blueprint& blueprint, const ProgramStage& stage) {
  ModuleMemory sum;
  for (const ModuleRun& run : stage.runs) {
    for (const ModuleId id : run.modules) {
      const ModuleMemory& memory = blueprint.modules[id.index()].memory;
      sum.weights += Bytes(run.times * memory.weights.count());
      sum.cache += Bytes(run.times * memory.cache.count());
      sum.workspace = std::max(sum.workspace, memory.workspace);
    }
  }
  return sum;
}

double Gib(double bytes) { return bytes / kBytesPerGib; }

double Gib(Bytes bytes) { return Gib(static_cast<double>(bytes.count())); }

}  // namespace

absl::StatusOr<CacheRoom> RoomForCache(const ModelSpec& model,
                                       const ServingLayout& layout,
                                       const ServingFacts& facts, Bytes memory,
                                       int64_t step_tokens) {
  InferenceSetup setup = SetupOf(layout);
  setup.positions = facts.block_positions;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint block,
                         InferenceBlueprint(model, setup));
  setup.batch = step_tokens;
  setup.positions = 1;
  ASTRA_ASSIGN_OR_RETURN(const Blueprint step,
                         InferenceBlueprint(model, setup));
  const double usable =
      facts.memory_share * static_cast<double>(memory.count());
  CacheRoom room;
  for (size_t i = 0; i < step.stages.size(); ++i) {
    const ModuleMemory held = MemoryOf(step, step.stages[i]);
    const Bytes of_block = MemoryOf(block, block.stages[i]).cache;
    const double left =
        usable - static_cast<double>(
                     (kDeviceOverhead + held.weights + held.workspace).count());
    const double each = static_cast<double>(of_block.count());
    const auto blocks = static_cast<int64_t>(std::floor(left / each));
    if (i > 0 && blocks >= room.blocks) continue;
    room = {blocks, held.weights, held.workspace, of_block};
  }
  if (room.blocks > 0) return room;
  return absl::FailedPreconditionError(fmt::format(
      "no room for the KV cache: weights of {:.1f} GiB, {:.1f} GiB of "
      "workspace and {:.1f} GiB of CUDA and NCCL fill the {:.1f} GiB of a GPU "
      "that the engine may take: expected more TP or PP, or a smaller "
      "precision",
      Gib(room.weights), Gib(room.workspace), Gib(kDeviceOverhead),
      Gib(usable)));
}

}  // namespace astra
