// One iteration of training, from a model and its setup.

#ifndef WORKLOAD_GENERATOR_TRAINING_H_
#define WORKLOAD_GENERATOR_TRAINING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"

namespace astra {

// The stages of the pipeline, each from its blocks; what is recomputed; the
// reduction of gradients over DP (and over DP_EP those of experts), the
// optimizer, and the gathering of parameters, as the ZeRO stage has them:
//
//   ZeRO  gradients                         parameters after the optimizer
//   0     all-reduced, after the last mb    -
//   1     reduce-scattered, the same        all-gathered
//   2     the same, in every micro-batch    all-gathered
//   3     the same                          gathered one block ahead, forward
//                                           and backward
//
// Without overlap, what happens once an iteration is in the modules of `after`.
//
// Errors: those of CheckTraining.
absl::StatusOr<Blueprint> TrainingBlueprint(const ModelSpec& model,
                                            const TrainingSetup& setup);

// The modules of block `layer`.
std::vector<MockModule> BlockModules(const ModelSpec& model, int64_t layer,
                                     const ModuleContext& context);

// How many parameters `model` has, over all ranks: its modules without any
// splitting or padding.
int64_t CountParameters(const ModelSpec& model);

// The same of what one token goes through: of the routed experts only top_k.
int64_t CountActiveParameters(const ModelSpec& model);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_TRAINING_H_
