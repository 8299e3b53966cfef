// How much a run of simai_simulator has to do, found without running it.

#ifndef ASTRA_CORE_APPS_SIMULATOR_ESTIMATE_H_
#define ASTRA_CORE_APPS_SIMULATOR_ESTIMATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/apps/simai_simulator_inputs.h"
#include "astra-core/apps/simai_simulator_options.h"
#include "astra-core/base/units.h"
#include "network-frontends/registry/registry.h"

namespace astra {

// Work that each backend does in a second on one core of a server of 2023;
// other machines do half to twice as much. docs/performance.md names the runs.
inline constexpr double kPacketHopsPerSecond = 8e6;          // packet
inline constexpr double kFlowMessagesPerSecond = 5e5;        // flow
inline constexpr double kAnalyticalMessagesPerSecond = 1e6;  // analytical

struct SimulatorEstimate {
  double collectives = 0;
  double flows = 0;
  double bytes = 0;  // Of payload.
  double packets = 0;
  double packet_hops = 0;  // With acknowledgements.
  double memory_bytes = 0;
  double seconds = 0;  // Of the backend.
  TimePs iteration;    // In closed form, without congestion.
};

// The flows of a graph that are looked at; they stand for all.
inline constexpr uint64_t kSampledFlows = 4096;

// Counts the collectives of each class of groups in closed form, and makes the
// flow graph of one of each kind.
//
// Errors: those of Simulate().
absl::StatusOr<SimulatorEstimate> EstimateRun(
    const SimaiSimulatorInputs& inputs, const BackendEntry& backend);

// As lines of text.
std::string DescribeEstimate(const SimulatorEstimate& estimate,
                             const BackendEntry& backend);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMULATOR_ESTIMATE_H_
