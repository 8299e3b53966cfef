#include "astra-core/apps/chakra_program.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "astra-core/apps/chakra_files.h"
#include "astra-core/apps/prepared_run.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/run/trace_run.h"
#include "astra-core/traces/trace_lanes.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckGpus(const RunOptions& options, const ExecutionTrace& trace,
                       const Topology& topology) {
  if (options.num_gpus &&
      static_cast<size_t>(*options.num_gpus) != trace.ranks.size()) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} has {} ranks", *options.num_gpus,
                    options.workload_file, trace.ranks.size()));
  }
  if (trace.ranks.size() != topology.num_gpus()) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is of {} ranks, but {} has {} GPUs", options.workload_file,
        trace.ranks.size(), options.cluster_name(), topology.num_gpus()));
  }
  if (!options.cluster && options.gpu_type && !topology.gpu_type().empty() &&
      *options.gpu_type != topology.gpu_type()) {
    return absl::InvalidArgumentError(fmt::format(
        "--gpu-type is {}, but {} has {}", Quoted(*options.gpu_type),
        options.cluster_name(), Quoted(topology.gpu_type())));
  }
  return absl::OkStatus();
}

absl::StatusOr<TraceRunRequest> ReadTraceRequest(const RunOptions& options,
                                                 Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster,
                         ReadCluster(options, options.num_gpus.value_or(1)));
  const std::string gpu(
      options.gpu_type.value_or(std::string(cluster.topology.gpu_type())));
  // A topology may name GPUs that nobody knows the rates of.
  const absl::StatusOr<PeakRates> peak = FindPeakRates(gpu);
  ASTRA_ASSIGN_OR_RETURN(
      ExecutionTrace trace,
      ReadChakraTrace(*options.chakra, options.groups_file,
                      peak.ok() ? std::optional(*peak) : std::nullopt,
                      warnings));
  ASTRA_RETURN_IF_ERROR(CheckGpus(options, trace, cluster.topology));
  ASTRA_ASSIGN_OR_RETURN(
      NetworkOptions network,
      ReadNetworkOptions(options, cluster.topology, warnings));
  ASTRA_ASSIGN_OR_RETURN(RunEvents events,
                         ReadEvents(options, cluster.topology, network));
  TraceLanes lanes = LanesOf(trace);
  ASTRA_ASSIGN_OR_RETURN(
      SimulationOptions simulation,
      SimulationForTrace(options, cluster, lanes.used(), network, warnings));
  return TraceRunRequest{.trace = std::move(trace),
                         .lanes = std::move(lanes),
                         .topology = std::move(cluster.topology),
                         .fidelity = options.fidelity,
                         .network = std::move(network),
                         .events = std::move(events),
                         .simulation = std::move(simulation),
                         .keeps_trace = options.trace};
}

}  // namespace

absl::Status RunChakraProgram(const RunDefaults& defaults,
                              const RunOptions& options, Warnings warnings,
                              const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(TraceRunRequest request,
                         ReadTraceRequest(options, &warnings));
  return CarryOut(defaults, options, warnings, log,
                  {.subject = SubjectOf(request),
                   .simulation = request.simulation,
                   .layers = request.trace.names,
                   .estimate = [&] { return EstimateRun(request); },
                   .run = [&] { return RunTrace(request); }});
}

}  // namespace astra
