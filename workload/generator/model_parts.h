// Decides which blocks of a model each chunk of each pipeline stage holds.
//
// The blocks are cut, in order, into model parts. The first part also has the
// embedding, and the last one the final norm, the logits and the loss. PP
// stages of VPP chunks form PP x VPP parts. A micro-batch passes the parts in
// this order:
//
//   schedule     parts     part of stage s, chunk c
//   interleaved  PP x VPP  c x PP + s
//   zb-v         2 PP      s in chunk 0, 2 PP - 1 - s in chunk 1
//   dualpipe     PP        s in chunk 0, PP - 1 - s in chunk 1
//   others       PP        s
//
// In dualpipe each part is on two stages, which both hold its weights. Their
// gradients must be summed over the two stages. The sum is not modelled,
// because no group of ranks exists for it.

#ifndef WORKLOAD_GENERATOR_MODEL_PARTS_H_
#define WORKLOAD_GENERATOR_MODEL_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

// A range of blocks, from `first_layer` up to but excluding `end_layer`. It may
// be empty in a part with the embedding or the logits.
struct ModelPart {
  int64_t first_layer = 0;
  int64_t end_layer = 0;
  bool has_embedding = false;
  bool has_logits = false;

  friend bool operator==(const ModelPart&, const ModelPart&) = default;
};

// Successive blocks that run again together, or a block by itself. `runs_again`
// tells whether they repeat what TrainingSetup::recompute says.
struct BlockGroup {
  int64_t first_layer = 0;
  int64_t end_layer = 0;
  bool runs_again = false;

  friend bool operator==(const BlockGroup&, const BlockGroup&) = default;
};

// Returns the groups of the blocks of `part`, in order; see RecomputeMethod.
std::vector<BlockGroup> GroupsOf(const ModelPart& part,
                                 const TrainingSetup& setup);

// Returns the number of blocks of each part. The first rule that applies
// decides:
//
//   1. stage_layers of `setup`, given for each part or for each stage;
//   2. first_stage_layers and last_stage_layers, with equal stages between;
//   3. equal parts, where the embedding or the logits count as a block;
//   4. equal parts, if the blocks divide evenly;
//   5. equal parts, but one block less in the first and in the last part;
//   6. almost equal parts: the parts behind the first get the extra blocks.
//
// Where the schedule has virtual stages, rules 4 to 6 apply to stages, and the
// chunks of a stage must be equal.
//
// Sources: Llama 3, arXiv 2407.21783, section 3.3.2 (126 blocks over 16 stages
// of 8 chunks); Megatron-LM, get_num_layers_to_build of transformer_block.py.
//
// Errors: InvalidArgument, with the numbers, if they do not add up.
absl::StatusOr<std::vector<int64_t>> PartLayers(const ModelSpec& model,
                                                const TrainingSetup& setup);

// Where the blocks do not divide by the stages, and a stage is one chunk, sets
// stage_layers such that the last stages have one block more.
void FillLastStages(const ModelSpec& model, TrainingSetup& setup);

// Returns the part of stage s, chunk c at [s][c].
//
// Requires: CheckTraining is ok.
std::vector<std::vector<ModelPart>> PartsOfStages(const ModelSpec& model,
                                                  const TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_MODEL_PARTS_H_
