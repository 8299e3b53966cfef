// Applies the requirements of a sweep file to its results.

#ifndef ASTRA_CORE_SWEEP_RESULTS_REQUIREMENTS_H_
#define ASTRA_CORE_SWEEP_RESULTS_REQUIREMENTS_H_

#include "absl/types/span.h"
#include "astra-core/sweep/expression.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// Marks finished rows of `table` infeasible where the metric "fits" is 0: the
// run needs more memory than its GPU has. With `allows_misfits`, only warns
// about these rows. Runs that do not know their memory have no such metric.
void ApplyMemory(bool allows_misfits, SweepTable& table);

// Marks finished rows of `table` infeasible that do not satisfy all of
// `requirements`, which are over the variables, the metrics of the runs and the
// computed metrics. The reason names the first requirement that is not met:
// "misses EXPRESSION", or "cannot tell whether EXPRESSION: REASON" where the
// expression cannot be evaluated or is neither true nor false; is_unclear then.
void ApplyRequirements(absl::Span<const Expression> requirements,
                       SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_REQUIREMENTS_H_
