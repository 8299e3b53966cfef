// What all ranks of a physical run measured, as the result of a run.

#ifndef ASTRA_CORE_PHYSICAL_PHYSICAL_RESULT_H_
#define ASTRA_CORE_PHYSICAL_PHYSICAL_RESULT_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/physical/control_message.h"

namespace astra {

// Returns the result of an iteration from the reports of its ranks, by rank: a
// collective begins when its first member joined and ends with the last result.
// How long a rank waited for others to join is not known; `late` is 0. Links
// have no bytes.
//
// Errors: Internal if ranks report different collectives.
absl::StatusOr<SimulationResult> ResultOf(const SimulationSetting& setting,
                                          absl::Span<const RankReport> reports);

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_PHYSICAL_RESULT_H_
