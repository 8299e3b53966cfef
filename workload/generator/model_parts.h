// Which blocks of a model each chunk of each pipeline stage holds.
//
// The blocks are cut, in order, into model parts. The first one has the
// embedding, too, and the last one the final norm, the logits and the loss.
// With PP stages of VPP chunks there are PP x VPP parts, and a micro-batch goes
// through them in the order of the schedule:
//
//   schedule     parts     part of stage s, chunk c
//   interleaved  PP x VPP  c x PP + s
//   zb-v         2 PP      s in chunk 0, 2 PP - 1 - s in chunk 1
//   dualpipe     PP        s in chunk 0, PP - 1 - s in chunk 1
//   others       PP        s
//
// In dualpipe each part is on two stages, which hold its weights twice. Their
// gradients are summed over the two, which no group of ranks is there for: that
// sum is not modelled.

#ifndef WORKLOAD_GENERATOR_MODEL_PARTS_H_
#define WORKLOAD_GENERATOR_MODEL_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

// The blocks from `first_layer` to before `end_layer`; there may be none where
// the part has the embedding or the logits.
struct ModelPart {
  int64_t first_layer = 0;
  int64_t end_layer = 0;
  bool has_embedding = false;
  bool has_logits = false;

  friend bool operator==(const ModelPart&, const ModelPart&) = default;
};

// The number of blocks of each part. As `setup` says them: stage_layers of each
// part, or of each stage; or first_stage_layers and last_stage_layers, with as
// many on each stage between; or equal where the embedding or the logits count
// as a block. Otherwise equal if that comes out even, or if it does with one
// less in the first and in the last part; else the blocks that are over go to
// the parts behind the first. With the schedule interleaved this holds of
// stages, whose chunks must be equal.
//
// Sources: Llama 3, arXiv 2407.21783, section 3.3.2 (126 blocks over 16 stages
// of 8 chunks); Megatron-LM, get_num_layers_to_build of transformer_block.py.
//
// Errors: InvalidArgument if the numbers do not come out, with the numbers.
absl::StatusOr<std::vector<int64_t>> PartLayers(const ModelSpec& model,
                                                const TrainingSetup& setup);

// The parts of stage s, chunk c at [s][c].
//
// Requires: CheckTraining is ok.
std::vector<std::vector<ModelPart>> PartsOfStages(const ModelSpec& model,
                                                  const TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_MODEL_PARTS_H_
