// Explains as text what a generated workload consists of: parameters, memory,
// FLOPs, tokens, collectives, and the source of each time.

#ifndef WORKLOAD_GENERATOR_EXPLAIN_H_
#define WORKLOAD_GENERATOR_EXPLAIN_H_

#include <cstdint>
#include <string>

#include "workload/generator/blueprint.h"
#include "workload/generator/module_times.h"
#include "workload/generator/training_setup.h"
#include "workload/models/model_spec.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

// Returns the model's parameters beside the published count, the layout, what
// each stage holds and computes, the totals of an iteration, and for each
// module its collectives and its operators with shapes, FLOPs, bytes and times.
// An iteration does `work`, on sequences of `positions` positions each.
std::string ExplainBlueprint(const ModelSpec& model, const GpuSpec& gpu,
                             const Blueprint& blueprint,
                             const ProgramWork& work, int64_t positions,
                             const ModuleTimes& times);

// Returns the FLOPs for training one token of a sequence of `positions`,
// forward and backward, without recomputation: 6 for each active parameter that
// takes part in a product, and for the causal half of the scores
//
//   6 x layers x positions x heads x (dim of a key + dim of a value) x 1/2
//
// or, where a layer has a window w below the positions s, with w - w^2 / 2s in
// place of s / 2.
//
// Source: Korthikanti et al., arXiv 2205.05198, appendix A, with a causal mask.
double TrainingFlopsPerToken(const ModelSpec& model, int64_t positions);

// Returns the tokens of an iteration of `setup` and the FLOPs for all of them.
//
// Requires: CheckTraining is ok.
ProgramWork WorkOfTraining(const ModelSpec& model, const TrainingSetup& setup);

// Returns the shape of an operator as text, such as "4096 x 28672 x 8192" for a
// product of m x n x k.
std::string FormatShape(const Operator& op);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_EXPLAIN_H_
