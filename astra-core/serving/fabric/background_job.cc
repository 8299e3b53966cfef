#include "astra-core/serving/fabric/background_job.h"

#include <memory>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/simulation.h"
#include "astra-core/serving/fabric/job_network.h"
#include "topology/routes.h"

namespace astra {
namespace {

SimulationOptions MessageOptions(const BackgroundJob& job) {
  SimulationOptions options = job.options;
  options.lowering = Lowering::kFlowGraph;
  options.unroll = true;
  return options;
}

NetworkFactory FactoryOf(const BackgroundJob& job, ServingFabric& fabric) {
  return [&job, &fabric] {
    return std::make_unique<JobNetwork>(fabric, job.place.nodes);
  };
}

}  // namespace

absl::StatusOr<JobTimes> ServeBeside(const BackgroundJob& job,
                                     ServingFabric& fabric) {
  JobTimes times;
  Routes routes(job.place.topology);
  SimulationOptions options = MessageOptions(job);
  // The iteration under way when serving ends is of no use but as the first.
  options.on_progress = [&](const RunProgress&) {
    const bool is_over = !fabric.status().ok() ||
                         (fabric.served_at() && !times.iterations.empty());
    return is_over ? absl::AbortedError("all requests have ended")
                   : absl::OkStatus();
  };
  const NetworkFactory new_network = FactoryOf(job, fabric);
  while (!fabric.served_at()) {
    const TimePs start = fabric.network().now();
    absl::StatusOr<SimulationResult> result =
        Simulate(job.program, options, routes, new_network);
    ASTRA_RETURN_IF_ERROR(fabric.status());
    const bool is_over = fabric.served_at() && !times.iterations.empty();
    if (!result.ok() && is_over) break;
    ASTRA_RETURN_IF_ERROR(result.status());
    const TimePs end = fabric.network().now();
    times.outlasted_serving = fabric.served_at() && *fabric.served_at() < end;
    if (times.outlasted_serving && !times.iterations.empty()) {
      times.outlasted_serving = false;
      break;
    }
    times.iterations.push_back(end - start);
    options.costs = result->costs;
  }
  return times;
}

absl::StatusOr<TimePs> IterationAlone(const BackgroundJob& job,
                                      ServingFabric& idle) {
  Routes routes(job.place.topology);
  ASTRA_RETURN_IF_ERROR(
      Simulate(job.program, MessageOptions(job), routes, FactoryOf(job, idle))
          .status());
  return idle.network().now();
}

}  // namespace astra
