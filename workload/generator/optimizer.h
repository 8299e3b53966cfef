// What data parallelism adds to the modules of a model: the gathering of
// sharded parameters, the reduction of gradients, and the optimizer.

#ifndef WORKLOAD_GENERATOR_OPTIMIZER_H_
#define WORKLOAD_GENERATOR_OPTIMIZER_H_

#include <string_view>
#include <vector>

#include "workload/generator/blueprint.h"
#include "workload/generator/training_setup.h"

namespace astra {

// `modules`, which are sharded and reduced as one unit, with two modules around
// them that hold their collectives, named after `unit`: "block_begin" and
// "block_end". Without collectives in the micro-batches, `modules` alone.
//
// Source: Zhao et al., "PyTorch FSDP", arXiv 2304.11277, section 3.
std::vector<MockModule> WithSharding(std::vector<MockModule> modules,
                                     std::string_view unit,
                                     const TrainingSetup& setup);

// What `stage`, of modules of `blueprint`, runs after the last micro-batch:
// "grad_reduce" (of what was not reduced before), "layernorm" (with sequence
// parallelism, the sum over TP of the gradients of what is replicated),
// "optimizer" (the norm of the gradients, four all-reduces of a number, and
// Adam on this rank's share) and "param_gather".
//
// Adam in mixed precision reads a gradient, reads and writes a weight and two
// moments in FP32, and writes the BF16 weight.
std::vector<MockModule> OptimizerModules(const Blueprint& blueprint,
                                         const ProgramStage& stage,
                                         const TrainingSetup& setup);

}  // namespace astra

#endif  // WORKLOAD_GENERATOR_OPTIMIZER_H_
