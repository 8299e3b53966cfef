// What data parallelism adds to the modules of a model: the gathering of
// sharded parameters, the reduction of gradients, and the optimizer.

#ifndef WORKLOAD_GENERATOR_OPTIMIZER_H_
#define WORKLOAD_GENERATOR_OPTIMIZER_H_

#include <string_view>
#include <vector>

#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"

namespace astra {

// Modules whose parameters are gathered, and whose gradients are reduced, as
// one: a block, the embedding, or the norm and the logits.
struct TrainedUnit {
  std::string_view name;  // "block", "embedding", "logits".
  std::vector<MockModule> modules;
};

// Adds what `units`, those of one model chunk in order, gather and reduce in
// the micro-batches: in two modules around those of a unit, "block_begin" and
// "block_end", after its name. With ZeRO 2 and 3 every unit does so by itself.
// Otherwise, where collectives overlap, successive units share one, a bucket:
// from the last unit on, as gradients become ready, one for each `bucket`
// parameters or more, and one for the rest. Units are not cut. Experts have
// buckets of their own.
//
// Sources: Zhao et al., "PyTorch FSDP", arXiv 2304.11277, section 3;
// Megatron-LM, param_and_grad_buffer.py.
void AddSharding(const TrainingSetup& setup, int64_t bucket,
                 std::vector<TrainedUnit>& units);

// The bucket of a chunk of a stage: setup.bucket_size, or 40 million parameters
// and at least a million for each rank of DP, in the first chunk of the first
// stage, whose backward pass is the last one; elsewhere there is one bucket.
//
// Source: Megatron-LM, distributed_data_parallel.py and get_model() of
// training.py.
int64_t BucketOf(const TrainingSetup& setup, int64_t stage, int64_t chunk);

// What `stage`, of modules of `blueprint`, runs after the last micro-batch:
// "grad_reduce" (of what was not reduced before), "layernorm" (with sequence
// parallelism, the sum over TP of the gradients of what is replicated),
// "optimizer" (the norm of the gradients, four all-reduces of a number, and
// Adam on this rank's share) and "param_gather".
//
// With zero_group, gradients are all-reduced, and the parameters, of which a
// group has them all, are gathered as if over all of DP: a program has no
// dimension for the group.
//
// Adam in mixed precision reads a gradient, reads and writes a weight and two
// moments in FP32, and writes the BF16 weight.
std::vector<MockModule> OptimizerModules(const Blueprint& blueprint,
                                         const ProgramStage& stage,
                                         const TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_OPTIMIZER_H_
