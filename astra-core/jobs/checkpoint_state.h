// How many bytes of a parameter a checkpoint holds, by what is trained with:
// the precision of the weights and the optimizer.
//
//   const size_t state = fields.Choice("state", CheckpointStateNames());
//   const Bytes bytes = CheckpointBytes(kCheckpointStates[state], 6.7e9);
//
// Sources: Rajbhandari et al., "ZeRO", arXiv 1910.02054, section 3.1 (with Adam
// in mixed precision 2 B of weights, 2 B of gradients, and 12 B of states: the
// weight and both moments in FP32). The BLOOM project wrote 329 GiB of BF16
// weights and 2.3 TiB with the states of the optimizer for 176.2e9 parameters,
// which are 2.0 and 14.4 B (bigscience.notion.site, "BigScience 176B Model").
// DeepSeek-AI, "DeepSeek-V3 Technical Report", arXiv 2412.19437, section 3.3.2
// (moments in BF16). torch.distributed.fsdp.fully_shard, MixedPrecisionPolicy
// (weights stay in FP32 and are cast where they are used).

#ifndef ASTRA_CORE_JOBS_CHECKPOINT_STATE_H_
#define ASTRA_CORE_JOBS_CHECKPOINT_STATE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"

namespace astra {

struct CheckpointState {
  std::string_view name;
  int64_t bytes_per_parameter = 0;
};

inline constexpr CheckpointState kCheckpointStates[] = {
    {"bf16-adam", 14},               // BF16 weight; FP32 weight and moments.
    {"bf16-adam-bf16-moments", 10},  // BF16 weight; FP32 weight, BF16 moments.
    {"bf16-adam-gradients", 16},     // As bf16-adam, and a BF16 gradient.
    {"bf16-weights", 2},             // BF16 weight.
    {"fp32-adam", 12},               // FP32 weight and moments.
    {"fp32-sgd", 8},                 // FP32 weight and momentum.
    {"fp32-weights", 4},             // FP32 weight.
};

// The largest number of parameters of a model.
inline constexpr double kMostParameters = 1e14;

// Returns the names of kCheckpointStates, in their order.
std::vector<std::string_view> CheckpointStateNames();

// Returns the bytes of a checkpoint of `parameters` parameters, rounded to a
// byte. Requires 1 <= parameters <= kMostParameters.
Bytes CheckpointBytes(const CheckpointState& state, double parameters);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_CHECKPOINT_STATE_H_
