#include "astra-core/apps/simai_simulator_inputs.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/explanation.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/system_topology.h"
#include "fmt/core.h"
#include "network-frontends/config/network_file.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

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

// The network of the file, or the defaults, and what the command line adds.
absl::StatusOr<NetworkOptions> ReadNetworkOptions(
    const SimaiSimulatorOptions& options, const Topology& topology,
    Warnings& warnings) {
  NetworkOptions network;
  PacketOptions& packet = network.packet;
  packet = DefaultNetwork();
  if (options.network_file) {
    ASTRA_ASSIGN_OR_RETURN(packet,
                           ReadNetwork(*options.network_file, &warnings));
    ASTRA_RETURN_IF_ERROR(CheckFollows(*options.backend, *options.network_file,
                                       packet, &warnings));
  }
  if (options.seed) packet.seed = *options.seed;
  // Files of messages that were asked for have all of them.
  if ((options.simai_files || options.trace) && !packet.record.flows) {
    packet.record.flows = true;
  }
  if (options.sample_interval) {
    packet.record.sample_interval = options.sample_interval;
  }
  if (options.capture) {
    ASTRA_ASSIGN_OR_RETURN(
        packet.record.captured_link,
        FindLink(topology, options.capture->first, options.capture->second));
  }
  if (const absl::Status status = CheckPacketOptions(packet, topology);
      !status.ok()) {
    return options.network_file ? AtNetworkField(*options.network_file, status)
                                : status;
  }
  network.flow = FlowOptionsOf(packet);
  return network;
}

// The system whose NCCL runs the collectives; none, with a warning, if nothing
// says which it is.
absl::StatusOr<std::optional<NcclSystem>> FindSystem(
    const SimaiSimulatorOptions& options, const Topology& topology,
    Warnings& warnings) {
  if (options.system) {
    return ReadNcclSystem(*options.system, options.nccl, topology,
                          options.topology_file);
  }
  absl::StatusOr<SystemSpec> derived = DeriveSystem(topology);
  if (derived.ok()) return NcclSystem{*std::move(derived), options.nccl};
  const std::string why = fmt::format("{}: {}", options.topology_file,
                                      std::string(derived.status().message()));
  if (!options.nccl_variables.empty()) {
    return absl::InvalidArgumentError("--nccl has no effect: " + why);
  }
  warnings.push_back(
      why +
      "; until then collectives are rings and direct messages, without "
      "NCCL's latencies");
  if (options.environment.has_nccl) {
    warnings.push_back(
        "AS_NVLS_ENABLE and AS_PXN_ENABLE have no effect on them");
  }
  return std::nullopt;
}

absl::StatusOr<SimulationOptions> SimulationOf(
    const SimaiSimulatorOptions& options, const Topology& topology,
    Warnings& warnings) {
  SimulationOptions simulation;
  simulation.lowering = Lowering::kFlowGraph;
  simulation.message_costs.per_message = options.send_latency;
  simulation.stop_at = options.stop_at;
  simulation.unroll = options.unroll;
  simulation.communication_slowdown = options.disturbances.contention;
  simulation.jitter = options.disturbances.jitter;
  simulation.symmetric = options.symmetry;
  simulation.collectives = options.collectives;
  simulation.simai = options.nccl;
  if (options.collectives != CollectiveFamily::kNccl) return simulation;
  ASTRA_ASSIGN_OR_RETURN(simulation.nccl,
                         FindSystem(options, topology, warnings));
  if (!simulation.nccl) simulation.collectives = CollectiveFamily::kDefault;
  return simulation;
}

}  // namespace

absl::StatusOr<SimaiSimulatorInputs> ReadInputs(
    const SimaiSimulatorOptions& options) {
  Warnings warnings = options.environment.warnings;
  ASTRA_ASSIGN_OR_RETURN(Program program,
                         ReadWorkload(options.workload_file, &warnings));
  if (options.unroll && !program.simulates_pipeline()) {
    return absl::InvalidArgumentError(fmt::format(
        "--unroll has no effect: {} is no program", options.workload_file));
  }
  if (options.symmetry && !program.simulates_pipeline()) {
    return absl::InvalidArgumentError(fmt::format(
        "--symmetry has no effect: {} is no program", options.workload_file));
  }
  if (options.symmetry && options.backend->name != "flow") {
    return absl::InvalidArgumentError(fmt::format(
        "--symmetry is for --backend flow, not {}", options.backend->name));
  }
  ASTRA_ASSIGN_OR_RETURN(Topology topology,
                         ReadTopology(options.topology_file));
  ASTRA_RETURN_IF_ERROR(CheckSameGpus(options.workload_file, program,
                                      options.topology_file, topology));
  ASTRA_RETURN_IF_ERROR(CheckSameGpuType(options.workload_file, program,
                                         options.topology_file, topology,
                                         options.gpu_mismatch, warnings));
  ASTRA_ASSIGN_OR_RETURN(NetworkOptions network,
                         ReadNetworkOptions(options, topology, warnings));
  ASTRA_ASSIGN_OR_RETURN(SimulationOptions simulation,
                         SimulationOf(options, topology, warnings));
  simulation.seed = network.packet.seed;
  KeepTimeline(program, options.trace, simulation);
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(program.sizes()));
  if (!options.backend->records_packets) {
    WarnOfErrorRates(options.topology_file, topology,
                     fmt::format("--backend {}", options.backend->name),
                     warnings);
  }
  WarnOfWorkload(options.workload_file, program, plan, warnings);
  return SimaiSimulatorInputs{std::move(program),    plan,
                              std::move(topology),   std::move(network),
                              std::move(simulation), std::move(warnings)};
}

}  // namespace astra
