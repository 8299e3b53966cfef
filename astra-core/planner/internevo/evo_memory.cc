#include "astra-core/planner/internevo/evo_memory.h"

#include <algorithm>

#include "astra-core/planner/internevo/evo_messages.h"

namespace astra {
namespace {

// Returns the bytes that a block keeps for each hidden value of a micro-batch.
double KeptPerValue(const EvoModel& model, int64_t seq_len,
                    const EvoLayout& layout) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto split = static_cast<double>(layout.sequence);
  const double ratio = static_cast<double>(model.ffn) / hidden;
  const double inner = 10 + 4 * model.kv_share() + 8 * ratio;
  constexpr double kOuter = 4;  // Inputs of the two halves of a block.
  double kept = layout.mode == EvoMode::kMsp ? kOuter + inner / split
                                             : (kOuter + inner) / split;
  if (!model.flash_attention) {
    kept += 5 * static_cast<double>(model.heads) *
            static_cast<double>(seq_len) / hidden / split;
  }
  return kept;
}

}  // namespace

double EmbeddingShards(const EvoLayout& layout, int64_t world) {
  if (layout.mode != EvoMode::kIsp) return static_cast<double>(layout.zero);
  return DataReplicas(layout, world) > 1 ? 2 : 1;
}

EvoMemory MemoryOf(const EvoModel& model, int64_t seq_len, int64_t world,
                   const EvoLayout& layout) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto positions = static_cast<double>(seq_len);
  const auto split = static_cast<double>(layout.sequence);
  const double tokens = static_cast<double>(layout.micro_bsz) * positions;
  const double state = kBf16Bytes * tokens * hidden;  // Of the whole group.
  const bool is_isp = layout.mode == EvoMode::kIsp;
  const EvoOwned owned = OwnedParameters(model, layout);
  const auto in_flight =
      static_cast<double>(BlocksInFlight(model.layers, layout));

  EvoMemory memory;
  memory.p_g = 4 * (owned.blocks + owned.embedding);
  memory.os = 12 * (owned.blocks / static_cast<double>(layout.zero) +
                    owned.embedding / EmbeddingShards(layout, world));
  if (is_isp && layout.weight > 1) {
    double weights = 0;
    for (const double some : BlockWeights(model)) weights += some;
    memory.isp_pool = 4 * kBf16Bytes * weights;
  }
  memory.sincos_cache =
      kBf16Bytes *
      static_cast<double>(MostBlocks(model.layers, layout.pipeline)) *
      positions * model.head_size();
  if (layout.pipeline > 1) memory.pp_p2p_buffer = state / split;
  memory.blocks = (1 - layout.checkpoint) * in_flight * tokens * hidden *
                  KeptPerValue(model, seq_len, layout);
  memory.block_output = layout.checkpoint * in_flight * state / split;
  memory.norm = 2 * state / split;
  if (layout.mode != EvoMode::kMsp) memory.head_input = state / split;
  memory.head_output =
      kBf16Bytes * tokens * static_cast<double>(model.vocabulary) / split;
  memory.backward_peak = 2 * state + 2 * state / split +
                         kBf16Bytes * EmbeddingParameters(model) / split;
  const double running = memory.p_g + memory.os + memory.activation() +
                         memory.isp_pool + memory.sincos_cache +
                         memory.pp_p2p_buffer;
  memory.total = std::max(running, memory.p_g + 5.0 / 3 * memory.os);
  return memory;
}

}  // namespace astra
