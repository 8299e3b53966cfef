#include "astra-core/apps/run_simulation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/measured_inputs.h"
#include "astra-core/apps/own_algorithms.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/base/status_macros.h"
#include "collectives/bus_bandwidth_file.h"
#include "collectives/dispatchers/dispatcher.h"
#include "collectives/inference_engines/engine_file.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

void WarnOfUnusedBusBandwidths(const RunOptions& options,
                               const BusBandwidths& bus_bandwidths,
                               const CollectiveSizes& used,
                               Warnings& warnings) {
  std::set<std::pair<ParallelDimension, CollectiveKind>> needed;
  for (const auto& [key, _] : used) {
    needed.emplace(key.first, BandwidthKindOf(key.second));
  }
  std::vector<std::string> unused;
  for (const auto& [key, _] : bus_bandwidths.entries()) {
    if (needed.count(key) > 0) continue;
    unused.push_back(fmt::format("{} {}", Name(key.first), Name(key.second)));
  }
  if (unused.empty()) return;
  warnings.push_back(fmt::format(
      "{}: no effect, since {} has none: {}", *options.bus_bandwidth_file,
      options.workload_file, fmt::join(unused, ", ")));
}

// Sets the system whose NCCL runs the collectives. If nothing names the system,
// collectives become rings, with a warning unless all of them have measured bus
// bandwidths.
absl::Status SetSystem(const RunOptions& options,
                       const std::optional<SystemSpec>& system,
                       const NcclOptions& nccl, const Topology& topology,
                       const CollectiveSizes& used,
                       SimulationOptions& simulation, Warnings& warnings) {
  if (system) {
    ASTRA_RETURN_IF_ERROR(CheckSystem(*options.system, *system, topology,
                                      options.cluster_name()));
    simulation.nccl = NcclSystem{*system, nccl};
    return absl::OkStatus();
  }
  absl::StatusOr<SystemSpec> derived = DeriveSystem(topology);
  if (derived.ok()) {
    simulation.nccl = NcclSystem{*std::move(derived), nccl};
    return absl::OkStatus();
  }
  const std::string why = fmt::format("{}: {}", options.cluster_name(),
                                      std::string(derived.status().message()));
  if (!options.nccl_variables.empty()) {
    return absl::InvalidArgumentError("--nccl has no effect: " + why);
  }
  simulation.collectives = CollectiveFamily::kRing;
  const bool all_measured =
      std::all_of(used.begin(), used.end(), [&](const auto& entry) {
        return simulation.bus_bandwidths
            .Find(entry.first.first, entry.first.second)
            .has_value();
      });
  if (all_measured) return absl::OkStatus();
  warnings.push_back(
      why +
      "; until then collectives are rings and direct messages, without "
      "NCCL's latencies");
  if (options.environment.has_nccl) {
    warnings.push_back(
        "AS_NVLS_ENABLE and AS_PXN_ENABLE have no effect on them");
  }
  return absl::OkStatus();
}

// Returns whether any of the collectives is of the kinds that `is` accepts.
bool HasAny(const CollectiveSizes& used, bool (*is)(CollectiveKind)) {
  return std::any_of(used.begin(), used.end(), [is](const auto& entry) {
    return is(entry.first.second);
  });
}

// Lets a dispatcher take the tokens of `program` to their experts.
absl::Status SetDispatcher(const RunOptions& options, const Program* program,
                           const CollectiveSizes& used, NcclOptions& nccl) {
  if (!options.dispatcher) return absl::OkStatus();
  if (program == nullptr || !program->routing() ||
      program->routing()->combine_bytes == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "--dispatcher has no effect: {} has no routing with the bytes of a "
        "token, as gen_workload --format program writes it for experts",
        options.workload_file));
  }
  if (!HasAny(used, IsOfExperts)) {
    return absl::InvalidArgumentError(
        fmt::format("--dispatcher has no effect: {} has no dispatch and no "
                    "combine between ranks",
                    options.workload_file));
  }
  ExpertDispatch& dispatch = nccl.dispatch.emplace();
  ASTRA_ASSIGN_OR_RETURN(dispatch.dispatcher,
                         LoadDispatcher(*options.dispatcher));
  dispatch.routing = *program->routing();
  return absl::OkStatus();
}

// Checks that the engine of --engine has an all-reduce to run. A trace, whose
// `program` is null, may be of an inference.
absl::Status CheckEngine(const RunOptions& options, const Program* program,
                         const CollectiveSizes& used) {
  if (program != nullptr && IsTraining(*program)) {
    return absl::InvalidArgumentError(fmt::format(
        "--engine has no effect: {} is of training, which no engine of "
        "inference runs",
        options.workload_file));
  }
  const auto is_all_reduce = [](CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce;
  };
  if (HasAny(used, is_all_reduce)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--engine has no effect: {} has no all-reduce between ranks",
                  options.workload_file));
}

// Returns NCCL's options with the engine of inference that was asked for, or
// that `program` has if none was.
absl::StatusOr<NcclOptions> WithEngine(const RunOptions& options,
                                       const Program* program,
                                       const CollectiveSizes& used) {
  NcclOptions nccl = options.nccl;
  const bool is_inference = program != nullptr && program->forward_only();
  ASTRA_ASSIGN_OR_RETURN(nccl.engine, LoadEngineOrNone(options.engine.value_or(
                                          is_inference ? "vllm" : "none")));
  if (options.engine && nccl.engine) {
    ASTRA_RETURN_IF_ERROR(CheckEngine(options, program, used));
  }
  return nccl;
}

// Lets what was measured go before the model of the system's NCCL.
absl::Status SetMeasured(const RunOptions& options,
                         const WorkloadFacts& workload,
                         const Topology& topology,
                         SimulationOptions& simulation, Warnings& warnings) {
  if (options.measured_files.empty()) return absl::OkStatus();
  if (!simulation.nccl) {
    return absl::InvalidArgumentError(fmt::format(
        "--measured has no effect: no system is known for the GPUs of {}",
        options.cluster_name()));
  }
  const std::optional<Launch> launch =
      options.has_launch ? std::optional(options.nccl.launch) : std::nullopt;
  ASTRA_ASSIGN_OR_RETURN(
      simulation.nccl->options.measured,
      ReadMeasuredCurves(options.measured_files, simulation.nccl->system.gpu,
                         launch, options.nccl.symmetric, &warnings));
  if (workload.plan != nullptr) {
    WarnOfUnusedMeasurements(options.measured_files,
                             *simulation.nccl->options.measured, workload.used,
                             *workload.plan, topology, warnings);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SimulationOptions> SimulationOf(
    const RunOptions& options, const std::optional<SystemSpec>& system,
    const WorkloadFacts& workload, const Topology& topology,
    Warnings& warnings) {
  const CollectiveSizes& used = workload.used;
  SimulationOptions simulation;
  simulation.overlap = options.overlap;
  simulation.message_costs.per_message = options.send_latency;
  simulation.stop_at = options.stop_at;
  simulation.unroll = options.unroll;
  simulation.communication_slowdown = options.disturbances.contention;
  simulation.jitter = options.disturbances.jitter;
  simulation.symmetric = options.symmetry;
  simulation.acceleration = options.acceleration.value_or(Acceleration::kExact);
  simulation.start_step = options.start_step;
  simulation.bound = options.bound;
  simulation.collectives = options.collectives;
  simulation.simai = options.nccl;
  if (options.bus_bandwidth_file) {
    ASTRA_ASSIGN_OR_RETURN(simulation.bus_bandwidths,
                           ReadBusBandwidths(*options.bus_bandwidth_file));
    WarnOfUnusedBusBandwidths(options, simulation.bus_bandwidths, used,
                              warnings);
  }
  if (options.collectives == CollectiveFamily::kNccl) {
    ASTRA_ASSIGN_OR_RETURN(NcclOptions nccl,
                           WithEngine(options, workload.program, used));
    ASTRA_RETURN_IF_ERROR(SetDispatcher(options, workload.program, used, nccl));
    ASTRA_RETURN_IF_ERROR(
        SetSystem(options, system, nccl, topology, used, simulation, warnings));
    ASTRA_RETURN_IF_ERROR(
        SetMeasured(options, workload, topology, simulation, warnings));
  }
  if (workload.plan == nullptr) return simulation;
  ASTRA_ASSIGN_OR_RETURN(
      simulation.custom,
      ReadOwnAlgorithms(options, simulation.nccl, used, *workload.plan,
                        topology, &warnings));
  return simulation;
}

}  // namespace astra
