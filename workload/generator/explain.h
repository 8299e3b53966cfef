// What a generated workload is made of, as text: parameters, memory, FLOPs,
// tokens, collectives, and where each time comes from.

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

// The model's parameters beside the published count, the layout, what each
// stage holds and computes, what an iteration needs in all, and then for each
// module its operators with their shapes, FLOPs, bytes and times, and its
// collectives. `sequences` are those of an iteration, of `positions` each.
std::string ExplainBlueprint(const ModelSpec& model, const GpuSpec& gpu,
                             const Blueprint& blueprint, int64_t sequences,
                             int64_t positions, const ModuleTimes& times);

// The FLOPs of one trained token of a sequence of `positions`, forward and
// backward, without recomputation: 6 for each active parameter that is part of
// a product, and 6 x layers x positions x heads x (dim of a key + of a value)
// x 1/2 for the causal half of the scores.
//
// Source: Korthikanti et al., arXiv 2205.05198, appendix A, with a causal mask.
double TrainingFlopsPerToken(const ModelSpec& model, int64_t positions);

// What an iteration of `setup` achieves: its tokens, and the FLOPs of them all.
//
// Requires: CheckTraining is ok.
ProgramWork TrainingWork(const ModelSpec& model, const TrainingSetup& setup);

// The shape of an operator, such as "4096 x 28672 x 8192" for a product of
// m x n x k.
std::string FormatShape(const Operator& op);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_EXPLAIN_H_
