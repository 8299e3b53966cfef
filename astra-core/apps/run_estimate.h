// Estimates the work of a run on a network without running it.

#ifndef ASTRA_CORE_APPS_RUN_ESTIMATE_H_
#define ASTRA_CORE_APPS_RUN_ESTIMATE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/run/run.h"
#include "astra-core/run/trace_run.h"

namespace astra {

// Work that each backend does in a second on one core of a server of 2023;
// other machines do half to twice as much. docs/performance.md names the runs.
inline constexpr double kPacketHopsPerSecond = 8e6;          // packet
inline constexpr double kFlowMessagesPerSecond = 5e5;        // flow
inline constexpr double kAnalyticalMessagesPerSecond = 1e6;  // analytical

struct RunEstimate {
  double collectives = 0;
  double flows = 0;
  double bytes = 0;  // Payload of all messages.
  double packets = 0;
  double packet_hops = 0;  // Packets times links, with acknowledgements.
  double memory_bytes = 0;
  double seconds = 0;  // Wall-clock time of the backend if all is simulated.
  // The same if the collectives of each kind and size are simulated once in
  // each dimension, and counted again from then on. None where nothing is: with
  // --accelerate off, with --symmetry, and on networks without replays.
  std::optional<double> seconds_with_replays;
  // Time of the iteration in closed form, without congestion.
  TimePs iteration;
};

// Number of flows of a graph that are examined; they stand for all.
inline constexpr uint64_t kSampledFlows = 4096;

// Counts the collectives of each class of groups in closed form, and makes one
// flow graph for each kind of collective. Requires a fidelity with a network.
//
// Errors: those of Simulate().
absl::StatusOr<RunEstimate> EstimateRun(const RunRequest& request);
absl::StatusOr<RunEstimate> EstimateRun(const TraceRunRequest& request);

// Returns the estimate as lines of text.
std::string DescribeEstimate(const RunEstimate& estimate, Fidelity fidelity);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_ESTIMATE_H_
