// What a table says of how NCCL ran: the variables set, the algorithm that was
// seen at work, and how the collective was launched.
//
//   NCCL_ALGO=Ring NCCL_MIN_CTAS=24          two settings
//   NCCL_NVLS_ENABLE=0 (Ring)                a setting and a statement
//   default, NCCL picked NVLS                a statement
//   default: RING LL <=1MiB, NVLS Simple >=2MiB
//   default: Ring at 2 and 4 GPUs, NVLS at 6
//   CUDA graph (-G 1) symmetric registration (-R 2)
//
// A setting is what was asked for, a statement what was seen. Statements are
// read strictly: a clause that holds a word that is not known here states
// nothing, as in "table says NVLS but A100 has no NVLS".

#ifndef COLLECTIVES_MEASUREMENTS_MEASURED_ENVIRONMENT_H_
#define COLLECTIVES_MEASUREMENTS_MEASURED_ENVIRONMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/units.h"
#include "collectives/nccl_algorithm.h"

namespace astra {

struct MeasuredEnvironment {
  // Each KEY=VALUE whose key begins with NCCL_, in the order of the text.
  std::vector<std::pair<std::string, std::string>> settings;

  // Of the first statement that holds for the size and the number of GPUs.
  std::optional<NcclAlgorithm> algorithm;
  std::optional<NcclProtocol> protocol;

  // The text is the name of an algorithm and no more ("NVLS"): tables that
  // measure one algorithm after the other are written so, and it was asked for.
  bool is_asked = false;

  bool uses_cuda_graph = false;
  bool symmetric = false;  // The buffers are in symmetric memory.
};

// What `text` says of a collective of `size` on `num_gpus` GPUs. In conditions
// such as "<=1MiB" a unit is a power of 1024 however it is written (1M, 1MB):
// what nccl-tests measures are powers of two.
MeasuredEnvironment ParseMeasuredEnvironment(std::string_view text, Bytes size,
                                             uint32_t num_gpus);

// "Ring", "NVLS_TREE", "nvlstree"; "LL128", "simple": as NCCL writes them,
// case,
// '_' and '-' apart. None for another word.
std::optional<NcclAlgorithm> AlgorithmNamed(std::string_view text);
std::optional<NcclProtocol> ProtocolNamed(std::string_view text);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_ENVIRONMENT_H_
