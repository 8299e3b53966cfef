// Reads engines of inference from YAML files such as those of inputs/engines,
// and finds the bundled ones.
//
// clang-format off
//   name: vllm
//   source: [where the facts come from]
//   origin: what the constants were fitted to
//   kernels:
//     - {since: 0.14, links: nvlink4, kernel: one_shot, start_us: 4.2, rank_us: 0.07, pass_us: 0, buffer_GBps: 266, efficiency: 0.64}
//   choices:                                # The sizes below which, in KiB.
//     - {since: 0.14, links: nvlink4, gpus: 8, one_shot: 256, two_shot: 8192}
//   eager:                                  # Least times if the host starts it.
//     - {since: 0.14, links: nvlink4, us: 21}
//   serving:                                # See serving_facts.h.
//     - {since: 0.14, scheduler: vllm, memory_share: 0.9, block: 16, chunked_prefill: true, overlapped_host: true,
//        step_us: 400, sequence_us: 5, launch_us: 3, request_us: 5000, fused: [residual_add], graphs: [1, 2, 4, 8..256/8], mixed_graphs: true}
//   budgets:                                # On GPUs of so much memory.
//     - {since: 0.14, memory_gib: 70, except: Ampere, tokens: 8192, sequences: 1024}
// clang-format on
//
// `since` is the first release for which a line holds; a later line for the
// same links and GPUs (or kernel) takes its place. A range of graphs is
// FIRST..LAST/STEP. These may be absent: pass_us (0), buffer_GBps (no limit),
// the eager_us of a kernel (as `eager` says), `serving` and `budgets`, the
// `except` of a budget, and of `serving`: `fused`, `memory_of` (all),
// `ranks_share_budget` and `ranks_are_gpus` (false), and reserve_MiB,
// reserve_token_MiB, reserve_graph_MiB, reserve_gpu_MiB and reserve_least_MiB
// (0; see MemoryReserve; with them there is no memory_share).

#ifndef COLLECTIVES_INFERENCE_ENGINES_ENGINE_FILE_H_
#define COLLECTIVES_INFERENCE_ENGINES_ENGINE_FILE_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/inference_engines/inference_engine.h"

namespace astra {

// Reads the releases of an engine, oldest first.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that does not have
// the format above, for sizes that do not grow, and for a choice of a kernel
// that has no constants.
absl::StatusOr<std::vector<InferenceEngine>> ParseInferenceEngine(
    std::string_view file, std::string_view contents);

// Finds an engine by "NAME" or "NAME@RELEASE", or in a file: text with a "/",
// or that ends in .yaml or .yml before the "@". Without a release it is the
// newest one; "vllm@0.21" is what 0.19 does if that is the last one before.
//
// Errors: those of ReadFile and ParseInferenceEngine; NotFound for an unknown
// name; InvalidArgument for a release that is older than all in the file, or no
// version.
absl::StatusOr<InferenceEngine> LoadInferenceEngine(std::string_view text);

// As LoadInferenceEngine(), but there is no engine for "none".
absl::StatusOr<std::optional<InferenceEngine>> LoadEngineOrNone(
    std::string_view text);

// Returns the names of the bundled engines, sorted.
std::vector<std::string_view> InferenceEngineNames();

}  // namespace astra

#endif  // COLLECTIVES_INFERENCE_ENGINES_ENGINE_FILE_H_
