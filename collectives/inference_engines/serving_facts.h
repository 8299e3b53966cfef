// How a server of an engine of inference works unless it is told otherwise:
// how much one step computes, how much memory the KV cache gets, and what its
// host program costs beside the GPU.
//
// The time of a step is, for g of the GPU and h = step + sequences x sequence
// of the host,
//
//   overlapped host (the next step is scheduled while this one runs)  max(g, h)
//   otherwise                                                         g + h
//
// and a step that no CUDA graph holds takes at least `launch` for each kernel.
//
// Sources: the files of inputs/engines name them for each engine.

#ifndef COLLECTIVES_INFERENCE_ENGINES_SERVING_FACTS_H_
#define COLLECTIVES_INFERENCE_ENGINES_SERVING_FACTS_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

// What one step may hold on GPUs with at least `memory_gib` of memory.
struct StepBudget {
  int64_t memory_gib = 0;
  std::string except;     // Architecture of GPUs that it is not for, or empty.
  int64_t tokens = 0;     // Positions of a step.
  int64_t sequences = 0;  // Sequences that run at once.

  friend auto operator<=>(const StepBudget&, const StepBudget&) = default;
};

// What a share of a GPU's memory is a share of, and holds.
enum class MemoryShareOf : uint8_t {
  kAll,     // Of the whole: weights, workspace and cache together (vLLM).
  kStatic,  // Of the whole: weights and cache (SGLang).
  kFree,    // Of what weights and workspace leave: the cache (TensorRT-LLM).
};
inline constexpr std::string_view kMemoryShareNames[] = {"all", "static",
                                                         "free"};

// Memory in MiB that SGLang leaves to activations, CUDA graphs and collectives:
//
//   base + token x positions of a step + graph x largest CUDA graph
//        + gpu x GPUs of a replica, and `least` on GPUs above 60 GiB
struct MemoryReserve {
  double base_mib = 0;
  double token_mib = 0;
  double graph_mib = 0;
  double gpu_mib = 0;
  double least_mib = 0;

  // Returns MiB on a GPU of `memory_gib`.
  double Of(double memory_gib, int64_t step_tokens, int64_t largest_graph,
            int64_t gpus) const;

  friend auto operator<=>(const MemoryReserve&, const MemoryReserve&) = default;
};

struct ServingFacts {
  std::string scheduler;    // Empty: the file says nothing of serving.
  double memory_share = 0;  // Of the memory that memory_of names.
  MemoryShareOf memory_of = MemoryShareOf::kAll;
  MemoryReserve reserve;         // Instead of memory_share, where that is 0.
  int64_t block_positions = 0;   // Positions in a block of the KV cache.
  bool chunked_prefill = false;  // A prompt may be cut at the budget of a step.
  bool overlapped_host = false;
  // Ranks of data-parallel attention divide the budget of a step among them;
  // otherwise each has all of it.
  bool ranks_share_budget = false;
  // A rank of data-parallel attention is one GPU, never a TP group.
  bool ranks_are_gpus = false;
  // Microseconds of the host for a step, for each of its sequences, to launch
  // one kernel, and from the arrival of a request to its place in the queue.
  double step_us = 0;
  double sequence_us = 0;
  double launch_us = 0;
  double request_us = 0;
  // Positions of a step for which there is a CUDA graph, sorted: a step takes
  // the next larger one, and beyond the last none.
  std::vector<int64_t> graphs;
  bool mixed_graphs = false;  // Also of steps with parts of prompts.
  // Operators that the engine's kernels do along with the one before: they
  // take the time of their bytes, but no kernel of their own starts and ends.
  std::vector<std::string> fused;
  std::vector<StepBudget> budgets;

  // Returns the seconds of the host for a step.
  double HostSeconds(int64_t sequences) const {
    return (step_us + sequence_us * static_cast<double>(sequences)) * 1e-6;
  }
  // Returns the budget of a GPU, or null: the last that is for it.
  const StepBudget* BudgetOf(double memory_gib,
                             std::string_view architecture) const;
  // Returns the positions that a step of `tokens` computes in its CUDA graph,
  // or 0 if there is none.
  int64_t GraphFor(int64_t tokens) const;

  friend auto operator<=>(const ServingFacts&, const ServingFacts&) = default;
};

}  // namespace astra

#endif  // COLLECTIVES_INFERENCE_ENGINES_SERVING_FACTS_H_
