// Reads model descriptions of AICB's inference generator: the JSON files of its
// scripts/inference_configs.
//
// The files of the Qwen family are config.json files of Hugging Face with
// additional keys of the command line. The file of DeepSeek has its own keys,
// which do not describe everything: the rest, such as the width of the first
// blocks, comes from the model that the command line names.
//
//   num_layers, dense_layer        blocks; the first ones without experts
//   hidden_size, vocab_size
//   num_attention_heads, head_num  heads
//   d_q_c, d_kv_c                  ranks of the queries, of keys and values
//   d_q, d_r, d_kv                 width of a head without positions, with
//                                  positions, and of a value
//   num_experts, moe_router_topk   experts, duplicates included; top_k
//   expert_dim, shared_experts     width of an expert; shared experts
//
// Source: AICB, scripts/inference_configs and MockedDeepSeek.

#ifndef WORKLOAD_MODELS_AICB_CONFIG_H_
#define WORKLOAD_MODELS_AICB_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/models/model_spec.h"

namespace astra {

// Reads the model of the file `path`. What the file does not say is taken from
// `base`. Warns of keys that are ignored.
//
// Errors: the errors of ReadFile and ParseHuggingFaceConfig; InvalidArgument
// "FILE:LINE:COLUMN: ..." for a value that is not valid.
absl::StatusOr<ModelSpec> ReadAicbConfig(const std::string& path,
                                         const ModelSpec& base,
                                         Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_MODELS_AICB_CONFIG_H_
