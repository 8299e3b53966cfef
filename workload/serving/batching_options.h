// What a scheduler of a serving engine can be told. Each scheduler uses some of
// it: see its file in schedulers. The defaults of an engine are the `defaults`
// of its entry in schedulers/registry.h.

#ifndef WORKLOAD_SERVING_BATCHING_OPTIONS_H_
#define WORKLOAD_SERVING_BATCHING_OPTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace astra {

// Returns the number of blocks that `share` of one makes, a quotient of sizes
// that may be a little more than it is: 7 / 3 of 27 are 63.
inline int64_t WholeBlocks(double share) {
  constexpr double kRounding = 1e-12;
  return static_cast<int64_t>(std::ceil(share * (1 - kRounding)));
}

// The blocks that a sequence holds beside those of its positions, from the same
// cache.
struct HeldBlocks {
  int64_t states = 0;  // Of linear attention, at any length.
  // Of layers with a sliding window: so many for each block of positions, until
  // the window is full and they are the most.
  double windows_per_block = 0;
  int64_t most_windows = 0;

  // Returns those of a sequence with so many blocks of positions.
  int64_t Beside(int64_t position_blocks) const {
    const int64_t windows =
        WholeBlocks(windows_per_block * static_cast<double>(position_blocks));
    return states + std::min(windows, most_windows);
  }

  friend bool operator==(const HeldBlocks&, const HeldBlocks&) = default;
};

struct BatchingOptions {
  // The KV cache. It decides every metric once it is full, so the number of
  // blocks is best copied from the engine's log. (vLLM keeps one of its blocks
  // for itself.)
  int64_t num_blocks = 0;  // Of one replica; no default.
  int64_t block_tokens = 16;
  bool prefix_caching = false;
  int64_t host_blocks = 0;  // Of prefixes in the host's memory.
  HeldBlocks held = {};     // Beside the blocks of positions.
  double watermark = 0;     // Share of the blocks that admission leaves free.

  // A step.
  int64_t max_batched_tokens = 8192;  // Positions.
  int64_t max_sequences = 256;        // Sequences that run.
  bool chunked_prefill = true;        // Whether prompts may be split.
  int64_t chunk_tokens = 8192;        // Chunk of a prompt; sarathi: of a step.

  // Speculative decoding: a step of a running sequence also verifies this many
  // draft tokens, and gets each that is accepted on top of its own. One is
  // accepted with this probability if all before it are, independent of
  // everything else, so that K of them with probability a give a step
  // (1 - a^(K + 1)) / (1 - a) tokens in the mean. Source: Y. Leviathan et al.,
  // "Fast inference from transformers via speculative decoding", ICML 2023,
  // equation 1.
  int64_t draft_tokens = 0;
  double acceptance_rate = 0;

  // vllm.
  bool whole_prompt_must_fit = true;  // scheduler_reserve_full_isl.
  int64_t long_prefill_tokens = 0;    // Largest chunk of a prompt; 0: any.
  // Steps from one that computes prompts to the next while others decode
  // (prefill_schedule_interval); 1: every step may.
  int64_t prefill_interval = 1;

  // orca, faster-transformer: positions that are reserved for a sequence.
  int64_t max_sequence_tokens = 4096;

  // lightllm: decode steps before it tries to admit again.
  int64_t max_waiting_steps = 10;

  // sglang.
  bool mixed_chunk = false;            // Steps of prompts also decode.
  int64_t max_prefill_tokens = 16384;  // Prompt positions of a step.
  int64_t prefill_delay = 0;           // See prefill_delay.h, in steps.
  double new_token_ratio = 0.7;        // Expected share of the outputs.
  double min_new_token_ratio = 0.098;  // To which it falls, in so many steps:
  int64_t new_token_decay_steps = 600;
  int64_t max_expected_tokens = 4096;  // Output that it reserves at most.
  int64_t retract_decode_steps = 20;   // Added to outputs in a new ratio.

  friend bool operator==(const BatchingOptions&,
                         const BatchingOptions&) = default;
};

// Returns the blocks that a sequence of `tokens` positions holds in all.
inline int64_t BlocksOfTokens(int64_t tokens, int64_t block_tokens,
                              const HeldBlocks& held) {
  const int64_t blocks = (tokens + block_tokens - 1) / block_tokens;
  return blocks + held.Beside(blocks);
}

inline int64_t BlocksOfTokens(int64_t tokens, const BatchingOptions& options) {
  return BlocksOfTokens(tokens, options.block_tokens, options.held);
}

// Returns the part of them that a sequence holds beside its positions.
inline int64_t HeldBlocksOf(int64_t tokens, const BatchingOptions& options) {
  return options.held.Beside((tokens + options.block_tokens - 1) /
                             options.block_tokens);
}

}  // namespace astra

#endif  // WORKLOAD_SERVING_BATCHING_OPTIONS_H_
