// Sets what a block of a model runs again in its backward pass, and what it
// therefore does not keep. Both follow from the same description of a module:
// the modules of Megatron-Core that its steps and its tensors belong to, or for
// "op" the shapes of its steps.
//
// What is not kept is there again while its module goes backward, and from the
// end of the block on where the block runs again as a whole. The bytes are in
// MockModule::recomputed_bytes. That the output of a norm stays until the other
// modules behind the norm have gone backward is left out.

#ifndef WORKLOAD_MODULES_RECOMPUTATION_H_
#define WORKLOAD_MODULES_RECOMPUTATION_H_

#include <cstdint>
#include <vector>

#include "workload/modules/module.h"

namespace astra {

// Runs the whole of `block` again. Only its input is kept, of `input_bytes`. If
// it `stops_early`, what only makes the output of the block does not run again:
// its last product, if that is not one of experts, and what follows it.
void RecomputeBlock(int64_t input_bytes, bool stops_early,
                    std::vector<MockModule>& block);

// Runs `modules` of `block` again, without those that it lacks. `context` is
// that of the block's modules.
void RecomputePartly(RecomputeModules modules, int64_t input_bytes,
                     const ModuleContext& context,
                     std::vector<MockModule>& block);

// Returns which modules `block` has. Every block has "op".
RecomputeModules RecomputeModulesOf(const std::vector<MockModule>& block);

}  // namespace astra

#endif  // WORKLOAD_MODULES_RECOMPUTATION_H_
