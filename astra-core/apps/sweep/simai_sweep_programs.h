// Lists the programs that a sweep may run.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PROGRAMS_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PROGRAMS_H_

#include "absl/types/span.h"
#include "astra-core/sweep/swept_program.h"

namespace astra {

// Returns the programs in the order in which a point runs them.
absl::Span<const SweptProgram> SweptPrograms();

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_PROGRAMS_H_
