#include "astra-core/apps/simai_collective_graphs.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/flow_run.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/tuning.h"
#include "collectives/reduction_tree.h"
#include "collectives/schedules/msccl_file.h"
#include "collectives/schedules/schedule_file.h"
#include "fmt/format.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

constexpr double kPsPerUs = 1e6;

// What NCCL reckons for the Simple protocol, in microseconds.
constexpr double kBaseUs = 8.4;
constexpr double kNvlinkStepUs = 3.4;
constexpr double kPcieStepUs = 5.7;
constexpr double kNetStepUs = 14;

// What a message costs beyond the network of the topology.
struct StepCosts {
  double within_us;   // Of a step within a server.
  double between_us;  // Of one between servers.
  double within_efficiency;
  double between_efficiency;
};

Pace PaceOf(const Paces& paces, CollectiveKind kind, const std::string& name) {
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    if (RegistryName(algorithm) == name) return paces.of(algorithm);
  }
  return IsSendsAndReceives(kind) ? paces.direct
                                  : paces.of(NcclAlgorithm::kRing);
}

StepCosts StepCostsOf(const SystemSpec& system, CollectiveKind kind,
                      const std::string& name) {
  constexpr double kHopsOfSimple = 2;  // It flushes what the NIC wrote.
  const bool is_pcie = system.interconnect.kind == InterconnectKind::kPcie;
  return {
      .within_us = is_pcie ? kPcieStepUs : kNvlinkStepUs,
      .between_us = kNetStepUs + kHopsOfSimple * system.transport.latency_us,
      .within_efficiency =
          PaceOf(system.interconnect.paces, kind, name).efficiency,
      .between_efficiency =
          PaceOf(system.transport.paces, kind, name).efficiency,
  };
}

// `type`, as a message finds it on a cable with those ends. A path has two
// cables that end at a GPU, or one that does so twice.
absl::StatusOr<LinkTypeId> AddCostlyType(const LinkType& type, NodeKind a,
                                         NodeKind b, const StepCosts& costs,
                                         TopologyBuilder& builder) {
  const bool is_within = a != NodeKind::kSwitch && b != NodeKind::kSwitch;
  const double ends =
      (a == NodeKind::kGpu ? 0.5 : 0) + (b == NodeKind::kGpu ? 0.5 : 0);
  const double step_us = is_within ? costs.within_us : costs.between_us;
  const double efficiency =
      is_within ? costs.within_efficiency : costs.between_efficiency;
  const auto rate = static_cast<double>(type.bandwidth.count());
  return builder.AddLinkType(
      fmt::format("{}bps", std::llround(rate * efficiency)),
      fmt::format("{}ps", type.latency.count() +
                              std::llround(ends * step_us * kPsPerUs)),
      "0");
}

// `topology` with what messages cost put on its links.
absl::StatusOr<Topology> WithCosts(const Topology& topology,
                                   const StepCosts& costs) {
  TopologyBuilder builder(topology.num_gpus(), topology.gpus_per_server(),
                          topology.gpu_type());
  for (uint32_t i = topology.num_gpus(); i < topology.num_nodes(); ++i) {
    builder.AddSwitch(topology.kind(NodeId(i)));
  }
  for (uint32_t i = 0; i < topology.links().size(); i += 2) {
    const Link& link = topology.link(LinkId(i));
    ASTRA_ASSIGN_OR_RETURN(
        const LinkTypeId type,
        AddCostlyType(topology.type(LinkId(i)), topology.kind(link.source),
                      topology.kind(link.target), costs, builder));
    ASTRA_RETURN_IF_ERROR(builder.AddCable(link.source, link.target, type));
  }
  return std::move(builder).Build();
}

bool IsOneServer(const CollectiveEstimator& cluster) {
  const Topology& topology = cluster.topology();
  const std::vector<RankId>& ranks = cluster.ranks();
  return std::all_of(ranks.begin(), ranks.end(), [&](RankId rank) {
    return topology.ServerOf(rank) == topology.ServerOf(ranks[0]);
  });
}

struct Busiest {
  LinkId link;
  double us = 0;  // That the link is busy.
};

Busiest BusiestOf(const Topology& topology, absl::Span<const double> bytes) {
  constexpr double kBitsPerByteAndUs = 8e6;
  Busiest busiest;
  for (uint32_t i = 0; i < bytes.size(); ++i) {
    const LinkId link(i);
    const auto rate =
        static_cast<double>(topology.type(link).bandwidth.count());
    const double us = kBitsPerByteAndUs * bytes[i] / rate;
    if (us > busiest.us) busiest = {link, us};
  }
  return busiest;
}

uint32_t NumChannels(const FlowGraph& graph) {
  uint32_t channels = 0;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    channels = std::max(channels, graph.flow(FlowId(i)).channel + 1U);
  }
  return channels;
}

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Where the group lies, with the switches that the algorithm needs.
absl::StatusOr<PlacedGroup> Place(const CollectiveEstimator& cluster,
                                  const ChosenAlgorithm& algorithm) {
  const Topology& topology = cluster.topology();
  if (algorithm.registered) {
    return PlaceGroup(*algorithm.registered, cluster.ranks(), topology);
  }
  GroupLayout layout = GroupLayout::Of(cluster.ranks(), topology);
  std::vector<NodeId> nodes = MemberNodes(cluster.ranks(), layout, topology);
  return PlacedGroup{std::move(layout), std::move(nodes)};
}

}  // namespace

absl::StatusOr<ChosenAlgorithm> FindChosenAlgorithm(
    const SimaiCollectiveOptions& options, Warnings* warnings) {
  if (options.algorithm) {
    ASTRA_ASSIGN_OR_RETURN(
        const CollectiveAlgorithm algorithm,
        FindCollectiveAlgorithm(*options.kind, *options.algorithm));
    Chunking chunking;
    if (!IsSendsAndReceives(*options.kind)) {
      chunking.max_chunk = MiB(2);
      chunking.slices_per_chunk = 2;
    }
    return ChosenAlgorithm{std::string(algorithm.name), algorithm, chunking,
                           algorithm.lower};
  }
  const std::string& path = *options.schedule;
  ASTRA_ASSIGN_OR_RETURN(
      CustomSchedule schedule,
      EndsWith(path, ".xml") ? ReadMsccl(path, warnings) : ReadSchedule(path));
  std::string name = schedule.name();
  return ChosenAlgorithm{
      std::move(name), std::nullopt, Chunking{},
      [schedule = std::move(schedule)](const CollectiveRequest& request) {
        return schedule.Lower(request);
      }};
}

absl::StatusOr<ChosenAlgorithm> FindNcclChoice(
    const CollectiveEstimator& cluster, const NcclOptions& nccl,
    CollectiveKind kind, Bytes bytes) {
  Routes routes(cluster.topology());
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveTimes times,
      CollectiveTimes::Create(kind, {cluster.ranks()}, cluster.system(), nccl,
                              routes));
  constexpr size_t kTheGroup = 0;
  ASTRA_ASSIGN_OR_RETURN(const TimedCollective timed,
                         times.Time(kTheGroup, bytes));
  ASTRA_ASSIGN_OR_RETURN(const CollectiveAlgorithm algorithm,
                         FindCollectiveAlgorithm(kind, timed.registry_name));
  Chunking chunking;
  if (!IsSendsAndReceives(kind)) chunking.num_channels = timed.channels;
  return ChosenAlgorithm{std::string(algorithm.name), algorithm, chunking,
                         algorithm.lower};
}

absl::StatusOr<LoweredCollective> LowerOn(const CollectiveEstimator& cluster,
                                          const ChosenAlgorithm& algorithm,
                                          CollectiveKind kind, Bytes bytes,
                                          uint32_t root) {
  ASTRA_ASSIGN_OR_RETURN(PlacedGroup group, Place(cluster, algorithm));
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveRequest request,
      CollectiveRequest::Create(
          kind, bytes,
          std::make_shared<const GroupLayout>(std::move(group.layout))));
  ASTRA_ASSIGN_OR_RETURN(request, request.With(algorithm.chunking));
  ASTRA_ASSIGN_OR_RETURN(request, request.WithRoot(GroupRank(root)));
  ASTRA_ASSIGN_OR_RETURN(std::shared_ptr<const FlowGraph> graph,
                         algorithm.lower(request));
  if (graph->num_flows() > kMaxGraphFlows) {
    return absl::ResourceExhaustedError(fmt::format(
        "{} messages: more than the limit of {}; take fewer GPUs or channels",
        graph->num_flows(), kMaxGraphFlows));
  }
  return LoweredCollective{std::move(request), std::move(group.nodes),
                           std::move(graph)};
}

FlowGraphTimes::FlowGraphTimes(const CollectiveEstimator& cluster,
                               std::string algorithm, double launch_us,
                               Topology topology)
    : cluster_(cluster),
      algorithm_(std::move(algorithm)),
      launch_us_(launch_us),
      topology_(std::move(topology)),
      routes_(topology_) {}

absl::StatusOr<std::unique_ptr<FlowGraphTimes>> FlowGraphTimes::Create(
    const CollectiveEstimator& cluster, CollectiveKind kind,
    const std::string& algorithm, bool cuda_graph) {
  const SystemSpec& system = cluster.system();
  ASTRA_ASSIGN_OR_RETURN(
      Topology topology,
      WithCosts(cluster.topology(), StepCostsOf(system, kind, algorithm)));
  double launch_us = cuda_graph ? system.interconnect.graph_launch_us
                                : system.interconnect.launch_us;
  if (!IsOneServer(cluster)) {
    launch_us = std::max(launch_us, system.transport.launch_us);
  }
  return std::unique_ptr<FlowGraphTimes>(
      new FlowGraphTimes(cluster, algorithm, launch_us, std::move(topology)));
}

absl::StatusOr<CollectiveEstimate> FlowGraphTimes::Time(
    const LoweredCollective& collective) {
  const auto& [request, nodes, graph] = collective;
  // Graphs that leave the switches alone do not have them.
  const auto members = absl::MakeConstSpan(nodes).first(graph->num_members());
  AnalyticalBackend network(routes_);
  ASTRA_ASSIGN_OR_RETURN(const TimePs run,
                         RunFlowGraph(graph, members, network));
  const Busiest busiest = BusiestOf(topology_, network.link_bytes());
  constexpr double kBytesPerUsAndGBps = 1000;
  CollectiveEstimate estimate;
  estimate.time_us = std::max(launch_us_, kBaseUs + ToMicroseconds(run));
  estimate.algbw_GBps = static_cast<double>(request.bytes().count()) /
                        (kBytesPerUsAndGBps * estimate.time_us);
  estimate.busbw_GBps = estimate.algbw_GBps *
                        BusBandwidthFactor(request.kind(), request.num_ranks());
  estimate.algorithm = algorithm_;
  estimate.protocol = Name(NcclProtocol::kSimple);
  estimate.channels = NumChannels(*graph);
  estimate.is_latency_bound = 2 * busiest.us < estimate.time_us;
  estimate.bottleneck = cluster_.topology().LinkName(busiest.link);
  return estimate;
}

}  // namespace astra
