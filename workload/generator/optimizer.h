// Adds the work of data parallelism to the modules of a model: gathering
// sharded parameters, reducing gradients, and running the optimizer.

#ifndef WORKLOAD_GENERATOR_OPTIMIZER_H_
#define WORKLOAD_GENERATOR_OPTIMIZER_H_

#include <string_view>
#include <vector>

#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"

namespace astra {

// Modules whose parameters are gathered together and whose gradients are
// reduced together: a block, the embedding, or the norm and the logits.
struct TrainedUnit {
  std::string_view name;  // "block", "embedding" or "logits".
  std::vector<MockModule> modules;
};

// Adds the gathers and reductions within micro-batches to `units`, the units of
// one model chunk in order. They go into two modules around the modules of a
// unit, named after the unit: "block_begin" and "block_end". With ZeRO 2 and 3
// every unit gathers and reduces by itself. Otherwise, where collectives
// overlap, successive units share one bucket. Buckets fill from the last unit
// on, as gradients become ready: each has at least `bucket` parameters, except
// the remainder. Units are not split. Experts have buckets of their own.
//
// Sources: Zhao et al., "PyTorch FSDP", arXiv 2304.11277, section 3;
// Megatron-LM, param_and_grad_buffer.py.
void AddSharding(const TrainingSetup& setup, int64_t bucket,
                 std::vector<TrainedUnit>& units);

// Returns the bucket size, in parameters, of a chunk of a stage. In the first
// chunk of the first stage, whose backward pass ends last, it is
// setup.bucket_size, or the larger of 40 million and a million for each rank of
// DP. Elsewhere one bucket holds everything.
//
// Source: Megatron-LM, distributed_data_parallel.py and get_model() of
// training.py.
int64_t BucketOf(const TrainingSetup& setup, int64_t stage, int64_t chunk);

// Returns the modules that `stage`, a stage of `blueprint`, runs after the last
// micro-batch:
//
//   grad_reduce   reduces the gradients that were not reduced before
//   layernorm     with sequence parallelism: sums gradients of replicated
//                 parameters over TP
//   optimizer     the norm of the gradients, four all-reduces of one number,
//                 Adam on this rank's share, and waiting for the host
//                 (iteration_host_ns)
//   param_gather  gathers the updated parameters
//
// With zero_group, gradients are all-reduced. A group then holds all
// parameters, but they are gathered as if over all of DP, because a program has
// no dimension for the group.
//
// Adam in mixed precision reads a gradient, reads and writes a weight in FP32
// and two moments, and writes the BF16 weight.
std::vector<MockModule> OptimizerModules(const Blueprint& blueprint,
                                         const ProgramStage& stage,
                                         const TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_OPTIMIZER_H_
