// The models and devices that Vidur knows, and how many blocks of the KV cache
// it gives to a replica.
//
//   requests = floor((memory x 2^30 x (1 - margin) - weights) / cache)
//   blocks   = floor(max tokens / block tokens) x requests x stages
//
// The weights are those of the products of the layers of one stage, with 2
// bytes each, without embeddings. The cache is that of one request of max
// tokens in all layers, also where stages hold only some of them.
//
// Source: Vidur (microsoft/vidur, MIT), vidur/config/model_config.py,
// device_sku_config.py, utils/param_counter.py and
// scheduler/utils/memory_planner.py.

#ifndef WORKLOAD_VIDUR_VIDUR_MODEL_H_
#define WORKLOAD_VIDUR_VIDUR_MODEL_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

struct VidurModel {
  std::string_view name;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t hidden = 0;
  int64_t expanded = 0;  // Width of the feed-forward network.
  int64_t vocabulary = 0;
  bool gated = true;
  bool post_attention_norm = true;
};

struct VidurDevice {
  std::string_view name;
  int64_t memory_gb = 0;  // In units of 2^30 bytes.
};

// Errors: InvalidArgument for an unknown name, with the nearest one.
absl::StatusOr<VidurModel> FindVidurModel(std::string_view name);
absl::StatusOr<VidurDevice> FindVidurDevice(std::string_view name);

// A replica of a model.
struct VidurReplica {
  VidurModel model;
  VidurDevice device;
  int64_t tensor = 1;
  int64_t stages = 1;
  int64_t block_tokens = 16;
  double memory_margin = 0.1;  // Share of the memory that stays unused.
};

// Errors: InvalidArgument for degrees that do not divide the heads and layers.
absl::Status CheckVidurReplica(const VidurReplica& replica);

// Returns the blocks for requests of at most `max_tokens`. Requires a replica
// that was checked. Errors: FailedPrecondition if no request fits.
absl::StatusOr<int64_t> VidurBlocks(const VidurReplica& replica,
                                    int64_t max_tokens);

}  // namespace astra

#endif  // WORKLOAD_VIDUR_VIDUR_MODEL_H_
