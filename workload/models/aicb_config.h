// Model descriptions as AICB's inference generator reads them: a JSON file of
// its scripts/inference_configs.
//
// Those of the Qwen family are config.json files of Hugging Face with keys of
// the command line beside. That of DeepSeek has keys of its own, with which it
// does not say all: the rest, such as the width of the first blocks, is that of
// the model which the command line names.
//
//   num_layers, dense_layer       blocks, and the first ones without experts
//   hidden_size, vocab_size
//   num_attention_heads, head_num the heads
//   d_q_c, d_kv_c                 ranks of the queries and of keys and values
//   d_q, d_r, d_kv                a head's width without positions, with them,
//                                 and of a value
//   num_experts, moe_router_topk  experts with those that are duplicated
//   expert_dim, shared_experts    the width of one, and the shared ones
//
// Source: AICB, scripts/inference_configs and MockedDeepSeek.

#ifndef WORKLOAD_MODELS_AICB_CONFIG_H_
#define WORKLOAD_MODELS_AICB_CONFIG_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/models/model_spec.h"

namespace astra {

// The model of the file `path`, where it does not say all, that of `base`.
// Warns of keys that are left out.
//
// Errors: those of ReadFile and ParseHuggingFaceConfig; InvalidArgument
// "FILE:LINE:COLUMN: ..." for a value that is none.
absl::StatusOr<ModelSpec> ReadAicbConfig(const std::string& path,
                                         const ModelSpec& base,
                                         Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_MODELS_AICB_CONFIG_H_
