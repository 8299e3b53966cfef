// The all-reduce kernels that an engine of inference (vLLM, SGLang,
// TensorRT-LLM) brings along for the GPUs of one server, up to which size it
// uses each of them, and how long they take. Beyond these sizes, and for all
// other collectives, an engine calls NCCL.
//
//   one-shot             each GPU reads the buffers of all others and adds them
//                        up by itself
//   two-shot             each GPU adds up one part of the buffer, then reads
//                        the other parts from the others
//   symmetric two-shot   the same, of PyTorch's symmetric memory
//   multicast            each GPU adds up one part, which the NVSwitch does for
//                        it, and the NVSwitch copies the sum to all
//
// A kernel has a fixed number of threads. As long as these handle the buffer in
// one pass, the time does not depend on the size. For S bytes on n GPUs it is
//
//   start + rank n + max(pass n, S / buffer_GBps, w S / (efficiency B))
//
// where w S are the bytes on the busiest link, of rate B.
//
// Sources: vLLM, csrc/custom_all_reduce.cuh (one-shot and two-shot, 36 blocks
// of 512 threads), vllm/distributed/device_communicators/all_reduce_utils.py
// (the sizes) and symm_mem.py; the constants are fitted, see inputs/engines.

#ifndef COLLECTIVES_INFERENCE_ENGINES_INFERENCE_ENGINE_H_
#define COLLECTIVES_INFERENCE_ENGINES_INFERENCE_ENGINE_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "collectives/inference_engines/serving_facts.h"

namespace astra {

enum class EngineAlgorithm : uint8_t {
  kOneShot,
  kTwoShot,
  kSymmetricTwoShot,
  kMulticast,
};
inline constexpr size_t kNumEngineAlgorithms = 4;
inline constexpr std::array<EngineAlgorithm, kNumEngineAlgorithms>
    kEngineAlgorithms = {EngineAlgorithm::kOneShot, EngineAlgorithm::kTwoShot,
                         EngineAlgorithm::kSymmetricTwoShot,
                         EngineAlgorithm::kMulticast};

// Returns the name in results: "OneShot", "SymmetricTwoShot".
std::string_view Name(EngineAlgorithm algorithm);

// Returns the name in files: "one_shot", "symmetric_two_shot".
std::string_view FileName(EngineAlgorithm algorithm);

// Returns the name of its messages in collectives/registry.h.
std::string_view RegistryName(EngineAlgorithm algorithm);

struct EngineKernel {
  EngineAlgorithm algorithm = EngineAlgorithm::kOneShot;
  double start_us = 0;
  double rank_us = 0;
  double pass_us = 0;
  double buffer_GBps = 0;  // 0: no limit beside the links.
  double efficiency = 1;   // Share of the links' rate.
  // Least time if the host starts it, which copies buffers before and after in
  // calls of their own; 0: that of the engine.
  double eager_us = 0;

  // The time of the smallest buffers, and the least time of all bytes.
  double StartUs(uint32_t num_ranks) const {
    return start_us + rank_us * num_ranks;
  }
  double PassUs(uint32_t num_ranks) const { return pass_us * num_ranks; }

  friend auto operator<=>(const EngineKernel&, const EngineKernel&) = default;
};

// A kernel, and for which buffers of how many GPUs it is used.
struct EngineChoice {
  uint32_t num_ranks = 0;
  Bytes below;  // Only smaller buffers.
  EngineKernel kernel;

  friend auto operator<=>(const EngineChoice&, const EngineChoice&) = default;
};

// Holds the kernels of an engine for one kind of links within a server.
struct EngineLinks {
  std::string links;    // Such as "nvlink4", also for "nvlink4-h800".
  double eager_us = 0;  // Least time of an all-reduce that the host starts.
  // Among those for one number of GPUs, the smaller buffers come first.
  std::vector<EngineChoice> choices;

  friend auto operator<=>(const EngineLinks&, const EngineLinks&) = default;
};

// A release of an engine.
struct InferenceEngine {
  std::string name;     // "vllm"
  std::string release;  // "0.19": the first that chooses so.
  std::vector<EngineLinks> links;
  ServingFacts serving;

  // Returns its kernels for the interconnect of this name, or null.
  const EngineLinks* LinksOf(std::string_view interconnect) const;

  // Returns the kernel that it uses, or null if it calls NCCL.
  const EngineKernel* KernelFor(std::string_view interconnect,
                                uint32_t num_ranks, Bytes bytes) const;

  friend auto operator<=>(const InferenceEngine&,
                          const InferenceEngine&) = default;
};

}  // namespace astra

#endif  // COLLECTIVES_INFERENCE_ENGINES_INFERENCE_ENGINE_H_
