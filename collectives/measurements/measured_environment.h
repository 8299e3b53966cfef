// Reads what a table says about how NCCL ran: the variables that were set, the
// algorithm that was seen at work, and how the collective was launched.
//
//   NCCL_ALGO=Ring NCCL_MIN_CTAS=24          two settings
//   NCCL_NVLS_ENABLE=0 (Ring)                a setting and a statement
//   default, NCCL picked NVLS                a statement
//   default: RING LL <=1MiB, NVLS Simple >=2MiB
//   default: Ring at 2 and 4 GPUs, NVLS at 6
//   CUDA graph (-G 1) symmetric registration (-R 2)
//   queued                                   a launch
//   vLLM_custom_graph, TRTLLM                kernels of an inference engine
//   dispatcher=deepep@20 routing=experts=256,top_k=8,...
//
// A setting is what was asked for; a statement is what was seen. Statements are
// read strictly: a clause with an unknown word states nothing, as in "table
// says NVLS but A100 has no NVLS".

#ifndef COLLECTIVES_MEASUREMENTS_MEASURED_ENVIRONMENT_H_
#define COLLECTIVES_MEASUREMENTS_MEASURED_ENVIRONMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/units.h"
#include "collectives/launch.h"
#include "collectives/nccl_algorithm.h"

namespace astra {

struct MeasuredEnvironment {
  // Each KEY=VALUE whose key begins with NCCL_, in the order of the text.
  std::vector<std::pair<std::string, std::string>> settings;

  // Algorithm of the first statement that holds for the size and the number of
  // GPUs.
  std::optional<NcclAlgorithm> algorithm;
  std::optional<NcclProtocol> protocol;

  // True if the text is only the name of an algorithm ("NVLS"). Tables that
  // measure one algorithm after the other are written so; it was asked for.
  bool is_asked = false;

  // The engine of inference whose all-reduce ran, as LoadInferenceEngine takes
  // it: "vllm" or "vllm@0.14". Empty: NCCL.
  std::string engine;

  // The dispatcher of tokens to their experts and the routing, as
  // LoadDispatcher and ParseRouting take them: "deepep@20", "experts=256,...".
  // Both are empty for NCCL's all-to-all.
  std::string dispatcher;
  std::string routing;
  bool is_prepared = false;  // Preparation of a dispatch was not timed.

  std::optional<Launch> launch;  // If the text states it.
  bool symmetric = false;        // Buffers are in symmetric memory.
};

// Returns what `text` says of a collective of `size` on `num_gpus` GPUs. In
// conditions such as "<=1MiB", units are powers of 1024 however they are
// written (1M, 1MB), because nccl-tests measures powers of two.
MeasuredEnvironment ParseMeasuredEnvironment(std::string_view text, Bytes size,
                                             uint32_t num_gpus);

// Parse names as NCCL writes them, such as "Ring", "NVLS_TREE", "nvlstree";
// "LL128", "simple". Case, '_' and '-' do not matter. Return nullopt for
// another word.
std::optional<NcclAlgorithm> AlgorithmNamed(std::string_view text);
std::optional<NcclProtocol> ProtocolNamed(std::string_view text);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_ENVIRONMENT_H_
