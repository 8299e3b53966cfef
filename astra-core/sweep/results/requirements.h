// What a sweep file requires of its runs.

#ifndef ASTRA_CORE_SWEEP_RESULTS_REQUIREMENTS_H_
#define ASTRA_CORE_SWEEP_RESULTS_REQUIREMENTS_H_

#include "absl/types/span.h"
#include "astra-core/sweep/expression.h"
#include "astra-core/sweep/results/sweep_table.h"

namespace astra {

// Makes those rows of `table` infeasible that finished and whose metric "fits"
// is 0: they need more memory than their GPU has. Where `allows_misfits`, only
// warns of them. Runs that do not know their memory have no such metric.
void ApplyMemory(bool allows_misfits, SweepTable& table);

// Makes those rows of `table` infeasible that finished and do not satisfy all
// of `requirements`, which are over the variables and the metrics, also those
// computed. The reason is the first that is against the row: "misses
// EXPRESSION", or "cannot tell whether EXPRESSION: REASON" where it cannot be
// evaluated or is neither true nor false.
void ApplyRequirements(absl::Span<const Expression> requirements,
                       SweepTable& table);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_REQUIREMENTS_H_
