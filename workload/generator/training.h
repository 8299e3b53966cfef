// Builds one iteration of training from a model and its setup.

#ifndef WORKLOAD_GENERATOR_TRAINING_H_
#define WORKLOAD_GENERATOR_TRAINING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"
#include "workload/modules/recompute_module.h"

namespace astra {

// Returns the stages of the pipeline with their blocks, recomputation, the
// reduction of gradients over DP (over DP_EP for those of experts), the
// optimizer, and the gathering of parameters. The ZeRO stage decides about the
// collectives:
//
//   ZeRO  gradients                         parameters after the optimizer
//   0     all-reduced after the last        -
//         micro-batch
//   1     reduce-scattered after the last   all-gathered
//         micro-batch
//   2     reduce-scattered in every         all-gathered
//         micro-batch
//   3     reduce-scattered in every         gathered one block ahead, forward
//         micro-batch                       and backward
//
// Without overlap, the work that is done once an iteration is in the modules of
// `after`.
//
// Errors: the errors of CheckTraining, and of CheckHasModules.
absl::StatusOr<Blueprint> TrainingBlueprint(const ModelSpec& model,
                                            const TrainingSetup& setup);

// Returns the first block that has the same modules as block `layer`.
int64_t FirstLike(const ModelSpec& model, int64_t layer);

// Returns the modules of block `layer`.
std::vector<MockModule> BlockModules(const ModelSpec& model, int64_t layer,
                                     const ModuleContext& context);

// Returns which modules the blocks of `model` have that can be recomputed.
RecomputeModules RecomputeModulesOf(const ModelSpec& model);

// Returns the number of parameters of `model` over all ranks: those of its
// modules without any splitting or padding.
int64_t CountParameters(const ModelSpec& model);

// Returns the number of parameters that one token passes through: like
// CountParameters, with only top_k of the routed experts.
int64_t CountActiveParameters(const ModelSpec& model);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_TRAINING_H_
