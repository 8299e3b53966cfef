// Reads model descriptions from config.json files of Hugging Face transformers.
//
// Source: the configuration class of each model_type in
// https://github.com/huggingface/transformers, which defines the meaning and
// the default of each key.

#ifndef WORKLOAD_MODELS_HUGGING_FACE_CONFIG_H_
#define WORKLOAD_MODELS_HUGGING_FACE_CONFIG_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/models/model_spec.h"

namespace astra {

// Returns the model of a config.json whose model_type is llama, mistral,
// mixtral, qwen2, qwen3, qwen3_moe, qwen3_next, deepseek_v2, deepseek_v3 or
// gpt_oss. Its name is _name_or_path, or else the model_type. The model passes
// CheckModel. A layer that predicts further tokens (num_nextn_predict_layers)
// is left out, with a warning.
//
// Warns of every key that is neither understood nor known to have no influence
// on the shape of the model.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is not JSON, a key
// that is missing or of another type, another model_type, a shape that a
// ModelSpec cannot describe, and what CheckModel refuses.
absl::StatusOr<ModelSpec> ParseHuggingFaceConfig(std::string_view file,
                                                 std::string_view contents,
                                                 Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_MODELS_HUGGING_FACE_CONFIG_H_
