// Runs traffic on the network of a cluster, without a workload:
//
//   TrafficRunRequest request{.traffic = traffic, .topology = topology,
//                             .fidelity = Fidelity::kPacket};
//   absl::StatusOr<TrafficRunResult> run = RunTraffic(request);
//   if (run.ok() && run->run.status.ok()) Use(run->finish);
//
// Each message has a connection of its own, as a flow of research on congestion
// control has: a queue pair with its own path, window and rate. Ranks and their
// software add no time.

#ifndef ASTRA_CORE_RUN_TRAFFIC_RUN_H_
#define ASTRA_CORE_RUN_TRAFFIC_RUN_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/message_log.h"
#include "astra-core/run/events_file.h"
#include "astra-core/run/fidelity.h"
#include "astra-core/run/run.h"
#include "collectives/closed_form.h"
#include "network-frontends/registry/registry.h"
#include "network-frontends/traffic/traffic.h"
#include "topology/topology.h"

namespace astra {

struct TrafficRunRequest {
  Traffic traffic;  // Between the GPUs of the topology.
  Topology topology;
  Fidelity fidelity = Fidelity::kPacket;  // Not the closed form.
  NetworkOptions network;  // Read only by networks that have options.
  RunEvents events = {};   // Those of links; others have no effect.
  TimePs stop_at = kMaxCollectiveTime;
  // Is told of the messages, on networks that record them. The layer of a
  // collective is the index of a pattern.
  MessageLog* message_log = nullptr;
  ProgressWatch on_progress = nullptr;  // May be empty.
};

struct TrafficRunResult {
  // Stands for a message that has not arrived.
  static constexpr TimePs kNever{-1};

  // Its `result` has only the bytes of links and, as stage_time, the time at
  // which the last message arrived.
  RunResult run;
  std::vector<TimePs> finish;  // When each message arrived, or kNever.
};

// Sends each message at its start. Of a run that is stopped or in which
// messages never arrive, the result tells what happened until then.
//
// Errors: FailedPrecondition if no path leads from a sender to a receiver.
absl::StatusOr<TrafficRunResult> RunTraffic(const TrafficRunRequest& request);

}  // namespace astra

#endif  // ASTRA_CORE_RUN_TRAFFIC_RUN_H_
