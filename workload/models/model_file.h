// Reads and writes model descriptions as YAML files:
//
//   name: mixtral-8x7b
//   aliases: [mixtral]                # May be left out.
//   source: "arXiv 2401.04088"        # Or a list; may be left out.
//   published_parameters: 46702792704 # Or no_published_count: REASON, or none.
//   layers: 32
//   hidden: 4096
//   vocabulary: 32000
//   positions: rotary                 # The default; or learned or alibi.
//   max_positions: 32768
//   tied_embeddings: false            # Flags are false by default.
//   norm: rms                         # The default; or layer, with norm_bias.
//   dropout: false
//   attention: {kind: full, heads: 32, kv_heads: 8, head_dim: 128}
//   feed_forward: {gated: true}
//   experts: {experts: 8, top_k: 2, ffn: 14336}
//
// attention is of a kind of workload/attention/registry.h; linear_attention may
// stand beside it. The fields of each part have their names in model_shape.h
// and in the header of the kind. Fields whose default is 0 or false there may
// be left out.

#ifndef WORKLOAD_MODELS_MODEL_FILE_H_
#define WORKLOAD_MODELS_MODEL_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "workload/models/model_spec.h"

namespace astra {

// Returns a model that passes CheckModel.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is not YAML, a field
// that is missing, of another type or unknown, and what CheckModel refuses.
absl::StatusOr<ModelSpec> ParseModel(std::string_view file,
                                     std::string_view contents);

// Returns text that ParseModel reads back as the same model. The model must
// pass CheckModel.
std::string FormatModel(const ModelSpec& model);

}  // namespace astra

#endif  // WORKLOAD_MODELS_MODEL_FILE_H_
