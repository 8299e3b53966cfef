// One way in which InternEvo trains a model: its mode of sequence parallelism,
// the sizes of its groups, its micro-batches and what it recomputes.
//
// - msp (Megatron): tensor parallelism with split sequences between the
//   products;
// - fsp: the same, with inputs that are gathered again in the backward pass;
// - isp: whole weights, gathered from a weight-parallel group block by block;
//   sequences are split, and attention exchanges heads (all-to-all).
//
// Ranks of a sequence-parallel group are neighbours, and so are those of a
// weight-parallel group; then come replicas, and pipeline stages last:
//
//   world = PP x SP x DP          replicas of the data, and of the embedding
//   world = PP x WP x WDP         replicas of the blocks' weights (isp)
//
// ZeRO shards optimizer states over `zero` of the DP replicas, or of the WDP
// ones in isp.
//
// Sources: github.com/SolenoidWGT/InternEvo, branch feat/new_split_pg,
// internlm/core/context/process_group_initializer_simplified.py (order of
// ranks); InternEvo, partition_uniform() (stages).

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_LAYOUT_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_LAYOUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace astra {

// More ranks than any file may name.
inline constexpr int64_t kMostEvoRanks = int64_t{1} << 24;

enum class EvoMode : uint8_t { kMsp, kFsp, kIsp };
inline constexpr EvoMode kEvoModes[] = {EvoMode::kMsp, EvoMode::kFsp,
                                        EvoMode::kIsp};
inline constexpr std::string_view kEvoModeNames[] = {"msp", "fsp", "isp"};
inline std::string_view Name(EvoMode mode) {
  return kEvoModeNames[static_cast<size_t>(mode)];
}

struct EvoLayout {
  EvoMode mode = EvoMode::kMsp;
  int64_t pipeline = 1;
  int64_t sequence = 1;   // Size of the sequence- or tensor-parallel group.
  int64_t weight = 1;     // Size of the weight-parallel group; 1 but in isp.
  int64_t zero = 1;       // Ranks over which optimizer states are sharded.
  int64_t micro_bsz = 1;  // Sequences of a micro-batch.
  int64_t micro_num = 1;  // Micro-batches of a replica.
  double checkpoint = 0;  // Share of the blocks that is recomputed, 0 to 1.

  friend bool operator==(const EvoLayout&, const EvoLayout&) = default;
};

// What all layouts of a search have in common.
struct EvoCluster {
  int64_t world = 1;
  int64_t gpus_per_server = 8;
};

inline int64_t DataReplicas(const EvoLayout& layout, int64_t world) {
  return world / (layout.pipeline * layout.sequence);
}

// Returns how many ranks have the same part of the blocks' weights, and how far
// apart they are.
inline int64_t WeightReplicas(const EvoLayout& layout, int64_t world) {
  const bool is_isp = layout.mode == EvoMode::kIsp;
  return world / (layout.pipeline * (is_isp ? layout.weight : layout.sequence));
}
inline int64_t WeightStride(const EvoLayout& layout) {
  return layout.mode == EvoMode::kIsp ? layout.weight : layout.sequence;
}

// Returns the blocks of stage `stage` of `stages`: those that are over go to
// the last ones, one each.
inline int64_t BlocksOfStage(int64_t layers, int64_t stages, int64_t stage) {
  return layers / stages + (stage >= stages - layers % stages ? 1 : 0);
}
inline int64_t MostBlocks(int64_t layers, int64_t stages) {
  return BlocksOfStage(layers, stages, stages - 1);
}

// Returns the blocks whose activations a rank keeps at most: a stage has as
// many micro-batches under way as stages follow it, itself included.
inline int64_t BlocksInFlight(int64_t layers, const EvoLayout& layout) {
  int64_t most = 0;
  for (int64_t stage = 0; stage < layout.pipeline; ++stage) {
    const int64_t micro_batches =
        std::min(layout.pipeline - stage, layout.micro_num);
    most = std::max(
        most, micro_batches * BlocksOfStage(layers, layout.pipeline, stage));
  }
  return most;
}

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_LAYOUT_H_
