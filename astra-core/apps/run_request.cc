#include "astra-core/apps/run_request.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/analytical_work.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/apps/run_simulation.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/format.h"
#include "network-frontends/config/network_file.h"
#include "topology/topology_file.h"
#include "topology/two_level_cluster.h"
#include "workload/memory_timeline.h"
#include "workload/parallel_plan.h"

namespace astra {
namespace {

absl::Status CheckProgram(const RunOptions& options, const Program& program) {
  if (program.simulates_pipeline()) return absl::OkStatus();
  for (const auto& [option, is_given] :
       {std::pair(std::string_view("unroll"), options.unroll),
        std::pair(std::string_view("symmetry"), options.symmetry)}) {
    if (!is_given) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--{} has no effect: {} is no program", option, options.workload_file));
  }
  return absl::OkStatus();
}

// Checks that the memory of the stage of --memory-snapshot is known.
absl::Status CheckSnapshot(const RunOptions& options, const Program& program) {
  if (!options.memory_snapshot) return absl::OkStatus();
  if (!program.simulates_pipeline() || !SaysMemory(program)) {
    return absl::InvalidArgumentError(fmt::format(
        "--memory-snapshot has no effect: {} says nothing of memory",
        options.workload_file));
  }
  const int64_t stages = program.shape().stages;
  if (options.snapshot_stage.value_or(0) < stages) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--snapshot-stage is {}: {} has stages 0 to {}",
                  *options.snapshot_stage, options.workload_file, stages - 1));
}

absl::Status CheckGpus(const RunOptions& options, const Program& program,
                       const Topology& topology) {
  const int64_t in_workload = program.sizes().num_ranks;
  const std::string cluster = options.cluster_name();
  ASTRA_RETURN_IF_ERROR(
      CheckSameGpus(options.workload_file, program, cluster, topology));
  if (options.num_gpus && *options.num_gpus != in_workload) {
    return absl::InvalidArgumentError(
        fmt::format("--gpus is {}, but {} and {} have {}", *options.num_gpus,
                    options.workload_file, cluster, in_workload));
  }
  if (!options.cluster && options.gpu_type &&
      *options.gpu_type != topology.gpu_type()) {
    return absl::InvalidArgumentError(fmt::format(
        "--gpu-type is {}, but {} has {}", Quoted(*options.gpu_type), cluster,
        Quoted(topology.gpu_type())));
  }
  return absl::OkStatus();
}

bool IsUsed(const CollectiveSizes& used, ParallelDimension dimension) {
  return std::any_of(used.begin(), used.end(), [&](const auto& entry) {
    return entry.first.first == dimension;
  });
}

// Warns of overlap ratios that have nothing to overlap. They are no errors,
// because SimAI's users type all of them, whatever the workload has.
// --dp-overlap is for DP and DP_EP.
void WarnOfOverlaps(const RunOptions& options, const CollectiveSizes& used,
                    Warnings& warnings) {
  using D = ParallelDimension;
  struct Rule {
    std::string_view option;
    D dimension;
    bool has_effect;
  };
  const Rule rules[] = {
      {"tp-overlap", D::kTensor, IsUsed(used, D::kTensor)},
      {"dp-overlap", D::kData,
       IsUsed(used, D::kData) || IsUsed(used, D::kDataExpert)},
      {"ep-overlap", D::kExpert, IsUsed(used, D::kExpert)},
      {"pp-overlap", D::kPipeline, IsUsed(used, D::kPipeline)},
  };
  for (const Rule& rule : rules) {
    if (options.overlap[IndexOf(rule.dimension)] > 0 && !rule.has_effect) {
      warnings.push_back(fmt::format(
          "--{} has no effect: {} has no {} communication", rule.option,
          options.workload_file, Name(rule.dimension)));
    }
  }
}

absl::StatusOr<LinkId> FindLink(const Topology& topology, NodeId source,
                                NodeId target) {
  if (source.index() < topology.num_nodes()) {
    for (const LinkId link : topology.links_from(source)) {
      if (topology.link(link).target == target) return link;
    }
  }
  return absl::InvalidArgumentError(fmt::format(
      "--capture is \"{}-{}\": no cable connects these nodes", source, target));
}

// Warns of error rates of links that have no effect at this fidelity.
void WarnOfErrors(const RunOptions& options, const Topology& topology,
                  Warnings& warnings) {
  const BackendEntry* network = NetworkOf(options.fidelity);
  if (network != nullptr && network->records_packets) return;
  WarnOfErrorRates(options.cluster_name(), topology,
                   fmt::format("--fidelity {}", Name(options.fidelity)),
                   warnings);
}

}  // namespace

absl::StatusOr<RunCluster> ReadCluster(const RunOptions& options,
                                       int64_t num_gpus) {
  std::optional<SystemSpec> system;
  if (options.system) {
    ASTRA_ASSIGN_OR_RETURN(system, LoadSystem(*options.system));
  }
  if (options.topology_file) {
    ASTRA_ASSIGN_OR_RETURN(Topology topology,
                           ReadTopology(*options.topology_file));
    return RunCluster{std::move(topology), std::move(system)};
  }
  if (options.cluster) {
    ASTRA_ASSIGN_OR_RETURN(Topology topology,
                           BuildTwoLevelCluster(*options.cluster));
    return RunCluster{std::move(topology), std::move(system)};
  }
  const auto gpus = static_cast<uint32_t>(num_gpus);
  ASTRA_ASSIGN_OR_RETURN(
      Topology topology,
      BuildSystemTopology(*system, gpus,
                          GpusOfDomain(gpus, system->gpus_per_server)));
  return RunCluster{std::move(topology), std::move(system)};
}

absl::StatusOr<NetworkOptions> ReadNetworkOptions(const RunOptions& options,
                                                  const Topology& topology,
                                                  Warnings* warnings) {
  NetworkOptions network;
  PacketOptions& packet = network.packet;
  packet = DefaultNetwork();
  if (options.network_file) {
    ASTRA_ASSIGN_OR_RETURN(packet,
                           ReadNetwork(*options.network_file, warnings));
  }
  if (const absl::Status status =
          SetNetworkValues(options.network_settings, packet);
      !status.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("--network-set {}", std::string(status.message())));
  }
  if (options.network_file || !options.network_settings.empty()) {
    ASTRA_RETURN_IF_ERROR(CheckFollows(
        *NetworkOf(options.fidelity),
        options.network_file.value_or("--network-set"), packet, warnings));
  }
  if (options.seed) packet.seed = *options.seed;
  // These files are made at the end, from all messages.
  packet.record.flows = (options.simai_files || options.trace) &&
                        packet.record.flows_file != FlowsFile::kNone;
  if (options.acceleration.value_or(Acceleration::kOff) != Acceleration::kOff &&
      packet.record.flows) {
    return absl::InvalidArgumentError(fmt::format(
        "--accelerate has no effect with --{}, which tells of every message",
        options.trace ? "trace" : "simai-files"));
  }
  if (options.sample_interval) {
    packet.record.sample_interval = options.sample_interval;
  }
  if (options.capture) {
    ASTRA_ASSIGN_OR_RETURN(
        packet.record.captured_link,
        FindLink(topology, options.capture->first, options.capture->second));
  }
  ASTRA_RETURN_IF_ERROR(AtNetworkField(options.network_file,
                                       CheckPacketOptions(packet, topology)));
  network.flow = FlowOptionsOf(packet);
  return network;
}

absl::StatusOr<RunEvents> ReadEvents(const RunOptions& options,
                                     const Topology& topology,
                                     const NetworkOptions& network) {
  if (!options.events_file) return RunEvents();
  const std::string& file = *options.events_file;
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  ASTRA_ASSIGN_OR_RETURN(
      RunEvents events,
      ParseEvents(file, contents, topology, network.packet.error_rate));
  const BackendEntry* backend = NetworkOf(options.fidelity);
  const bool has_links = backend != nullptr && backend->has_options;
  const bool has_packets = backend != nullptr && backend->records_packets;
  if (!events.links.empty() && !has_links) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: events of links have no effect with --fidelity {}: take flow or "
        "packet",
        file, Name(options.fidelity)));
  }
  if (events.has_losses && !has_packets) {
    return absl::InvalidArgumentError(
        fmt::format("{}: losses have no effect with --fidelity {}: take packet",
                    file, Name(options.fidelity)));
  }
  return events;
}

absl::StatusOr<RunRequest> ReadRequest(const RunOptions& options,
                                       Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(Program program,
                         ReadWorkload(options.workload_file, warnings));
  return RequestFor(options, std::move(program), warnings);
}

absl::StatusOr<RunRequest> RequestFor(const RunOptions& options,
                                      Program program, Warnings* warnings) {
  ASTRA_RETURN_IF_ERROR(CheckProgram(options, program));
  ASTRA_RETURN_IF_ERROR(CheckSnapshot(options, program));
  if (options.fidelity == Fidelity::kClosedForm) {
    const bool is_whole = options.unroll || options.disturbances.jitter > 0;
    ASTRA_RETURN_IF_ERROR(AnnounceWork(
        AnalyticalWork(program, EstimateCables(options, program), is_whole),
        options.force));
  }
  ASTRA_ASSIGN_OR_RETURN(RunCluster cluster,
                         ReadCluster(options, options.num_gpus.value_or(
                                                  program.sizes().num_ranks)));
  ASTRA_ASSIGN_OR_RETURN(
      NetworkOptions network,
      ReadNetworkOptions(options, cluster.topology, warnings));
  ASTRA_ASSIGN_OR_RETURN(RunEvents events,
                         ReadEvents(options, cluster.topology, network));
  ASTRA_ASSIGN_OR_RETURN(
      RunRequest request,
      RequestOn(options, std::move(program), std::move(cluster),
                std::move(network), warnings));
  request.events = std::move(events);
  return request;
}

absl::StatusOr<RunRequest> RequestOn(const RunOptions& options, Program program,
                                     RunCluster cluster, NetworkOptions network,
                                     Warnings* warnings) {
  const std::optional<SystemSpec>& system = cluster.system;
  Topology& topology = cluster.topology;
  ASTRA_RETURN_IF_ERROR(CheckGpus(options, program, topology));
  ASTRA_RETURN_IF_ERROR(CheckSameGpuType(options.workload_file, program,
                                         options.cluster_name(), topology,
                                         options.gpu_mismatch, *warnings));
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(program.sizes()));
  const CollectiveSizes used = UsedCollectives(program, plan);
  ASTRA_ASSIGN_OR_RETURN(SimulationOptions simulation,
                         SimulationOf(options, system, {&program, &plan, used},
                                      topology, *warnings));
  simulation.seed = network.packet.seed;
  WarnOfOverlaps(options, used, *warnings);
  WarnOfErrors(options, topology, *warnings);
  WarnOfWorkload(options.workload_file, program, plan, *warnings);
  return RunRequest{.program = std::move(program),
                    .topology = std::move(topology),
                    .fidelity = options.fidelity,
                    .network = std::move(network),
                    .events = {},
                    .simulation = std::move(simulation),
                    .trace = options.trace || options.memory_snapshot};
}

absl::StatusOr<SimulationOptions> SimulationForTrace(
    const RunOptions& options, const RunCluster& cluster,
    const CollectiveSizes& used, const NetworkOptions& network,
    Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(
      SimulationOptions simulation,
      SimulationOf(options, cluster.system, {nullptr, nullptr, used},
                   cluster.topology, *warnings));
  simulation.seed = network.packet.seed;
  WarnOfOverlaps(options, used, *warnings);
  WarnOfErrors(options, cluster.topology, *warnings);
  return simulation;
}

}  // namespace astra
