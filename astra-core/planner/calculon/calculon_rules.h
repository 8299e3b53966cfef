// Checks that an execution of Calculon fits to its application and system.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_RULES_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_RULES_H_

#include "absl/status/status.h"
#include "astra-core/planner/calculon/calculon_inputs.h"

namespace astra {

// Checks the rules below. `inputs` has values in the ranges of the reader.
//
//   - num_procs is tensor_par x pipeline_par x data_par.
//   - data_par divides batch_size, and microbatch_size the quotient.
//   - tensor_par divides hidden, feedforward, attn_heads and, unless all
//     communication is all-reduces, the positions of a micro-batch.
//   - pipeline_interleaving divides the blocks of a processor, rounded up.
//   - Offloading needs 3 blocks of a processor.
//   - Networks exist, are large enough for the groups on them, and are filled
//     by whole groups where they must be.
//   - A setting that only has a meaning with another one stands with it.
//
// Errors: the FieldError of the first rule that is broken, with the key of the
// execution, its value, and the nearest value that keeps the rule.
absl::Status CheckCalculonExecution(const CalculonInputs& inputs);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_RULES_H_
