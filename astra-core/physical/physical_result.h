// Makes the result of a run from what all ranks of a physical run measured.

#ifndef ASTRA_CORE_PHYSICAL_PHYSICAL_RESULT_H_
#define ASTRA_CORE_PHYSICAL_PHYSICAL_RESULT_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/engine/result.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/physical/control_message.h"

namespace astra {

// Returns the result of an iteration from the reports of its ranks, by rank. A
// collective begins when its first member joins and ends when its last member
// has its result. Time spent waiting for others to join is not told apart, so
// `late` is 0, and no bytes of links are known.
//
// Errors: Internal if ranks report different collectives.
absl::StatusOr<SimulationResult> ResultOf(const SimulationSetting& setting,
                                          absl::Span<const RankReport> reports);

}  // namespace astra

#endif  // ASTRA_CORE_PHYSICAL_PHYSICAL_RESULT_H_
