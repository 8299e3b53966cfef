#include "astra-core/apps/collective/simai_collective_graphs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/flow_run.h"
#include "astra-core/engine/message_pace.h"
#include "astra-core/engine/zoned_run.h"
#include "astra-core/run/pace_network.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/tuning.h"
#include "collectives/reduction_tree.h"
#include "collectives/schedules/algorithm_file.h"
#include "fmt/core.h"
#include "network-frontends/zoned_network.h"

namespace astra {
namespace {

struct Busiest {
  LinkId link;
  double us = 0;  // Time that the link is busy.
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

// Returns the place of the group, with the switches that the algorithm needs.
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

// How long a collective takes, and what links carry for it.
struct GraphRun {
  TimePs time;
  std::vector<double> link_bytes;
};

// Runs a collective on several threads. Errors: FailedPrecondition with the
// reason if that cannot be; one thread then does it.
absl::StatusOr<GraphRun> RunOnThreads(const NetworkChoice& network,
                                      const PlacedFlowGraph& placed,
                                      const Topology& topology) {
  ASTRA_ASSIGN_OR_RETURN(
      const std::unique_ptr<ZonedNetwork> zones,
      NetworkOf(network.fidelity)
          ->make_zones(network.options, topology, network.num_threads));
  ASTRA_ASSIGN_OR_RETURN(const TimePs time, RunInZones(placed, *zones));
  return GraphRun{time, zones->link_bytes()};
}

absl::StatusOr<GraphRun> RunOn(const NetworkChoice& network,
                               const PlacedFlowGraph& placed, Routes& routes,
                               Warnings* warnings) {
  if (network.num_threads > 1) {
    absl::StatusOr<GraphRun> run =
        RunOnThreads(network, placed, routes.topology());
    if (run.ok()) return run;
    std::string warning = fmt::format("--threads has no effect: {}",
                                      std::string(run.status().message()));
    if (std::find(warnings->begin(), warnings->end(), warning) ==
        warnings->end()) {
      warnings->push_back(std::move(warning));
    }
  }
  const std::unique_ptr<NetworkBackend> backend =
      NetworkOf(network.fidelity)->make(network.options, routes);
  ASTRA_ASSIGN_OR_RETURN(const TimePs time,
                         RunFlowGraph(placed.graph, placed.members, *backend,
                                      placed.costs, placed.layout));
  const absl::Span<const double> bytes = backend->link_bytes();
  return GraphRun{time, {bytes.begin(), bytes.end()}};
}

}  // namespace

absl::StatusOr<ChosenAlgorithm> FindChosenAlgorithm(
    const SimaiCollectiveOptions& options, const CollectiveEstimator& cluster,
    Warnings* warnings) {
  ChosenAlgorithm chosen;
  const std::string& named = *options.algorithm;
  const bool is_file = named.find('.') != std::string::npos;
  if (!is_file) {
    ASTRA_ASSIGN_OR_RETURN(const CollectiveAlgorithm algorithm,
                           FindCollectiveAlgorithm(*options.kind, named));
    chosen.name = algorithm.name;
    chosen.registered = algorithm;
    chosen.lower = algorithm.lower;
    if (!IsSendsAndReceives(*options.kind)) {
      chosen.chunking.max_chunk = MiB(2);
      chosen.chunking.slices_per_chunk = 2;
    }
  } else {
    ASTRA_ASSIGN_OR_RETURN(CustomSchedule schedule,
                           ReadAlgorithm(named, warnings));
    chosen.name = schedule.name();
    chosen.lower = [path = named, schedule = std::move(schedule)](
                       const CollectiveRequest& request) {
      auto graph = schedule.Lower(request);
      // The schedule is for another collective than that of --op.
      if (!graph.ok()) {
        graph =
            absl::Status(graph.status().code(),
                         fmt::format("{}:1:1: {}", path,
                                     std::string(graph.status().message())));
      }
      return graph;
    };
  }
  chosen.costs =
      CostsOfSimple(cluster.system(), NumServers(cluster) == 1, *options.kind,
                    chosen.name, options.nccl.launch.value_or(Launch::kHost));
  return chosen;
}

absl::StatusOr<ChosenAlgorithm> FindNcclRun(const CollectiveEstimator& cluster,
                                            const NcclOptions& nccl,
                                            CollectiveKind kind, Bytes bytes) {
  constexpr size_t kTheGroup = 0;
  Routes routes(cluster.topology());
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveTimes times,
      CollectiveTimes::Create(kind, {cluster.ranks()}, cluster.system(), nccl,
                              routes));
  ASTRA_ASSIGN_OR_RETURN(const TimedCollective timed,
                         times.Time(kTheGroup, bytes));
  ASTRA_ASSIGN_OR_RETURN(const NcclMessages messages,
                         times.Messages(kTheGroup, bytes));
  ASTRA_ASSIGN_OR_RETURN(const CollectiveAlgorithm algorithm,
                         FindCollectiveAlgorithm(kind, timed.registry_name));
  return ChosenAlgorithm{.name = std::string(timed.algorithm),
                         .source = timed.source,
                         .protocol = std::string(timed.protocol),
                         .channels = timed.channels,
                         .costs = CostsOf(messages, {}),
                         .nccl = messages,
                         .registered = algorithm,
                         .chunking = messages.chunking,
                         .lower = algorithm.lower};
}

absl::StatusOr<ChosenAlgorithm> FindNcclChoice(
    const CollectiveEstimator& cluster, const NcclOptions& nccl,
    CollectiveKind kind, Bytes bytes) {
  ASTRA_ASSIGN_OR_RETURN(ChosenAlgorithm chosen,
                         FindNcclRun(cluster, nccl, kind, bytes));
  chosen.name = chosen.registered->name;
  chosen.chunking = {};
  if (!IsSendsAndReceives(kind)) chosen.chunking.num_channels = chosen.channels;
  return chosen;
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

absl::StatusOr<CollectiveEstimate> TimeOnNetwork(
    const CollectiveEstimator& cluster, const ChosenAlgorithm& algorithm,
    const LoweredCollective& collective, const NetworkChoice& network,
    Routes& routes, Warnings* warnings) {
  const auto& [request, nodes, graph] = collective;
  // Graphs that do not use switches do not have them as members.
  const auto members = absl::MakeConstSpan(nodes).first(graph->num_members());
  MessageCosts costs = algorithm.costs;
  if (algorithm.nccl) {
    ASTRA_ASSIGN_OR_RETURN(
        const NcclMessages paced,
        Paced(*algorithm.nccl, {graph, members, {}, &request.layout()},
              PaceNetworkOf(network.fidelity, network.options, routes)));
    costs = CostsOf(paced, {});
  }
  ASTRA_ASSIGN_OR_RETURN(
      const GraphRun run,
      RunOn(network, {graph, members, costs, &request.layout()}, routes,
            warnings));
  const Busiest busiest = BusiestOf(cluster.topology(), run.link_bytes);
  constexpr double kBytesPerUsAndGBps = 1000;
  CollectiveEstimate estimate;
  estimate.time_us = ToMicroseconds(run.time);
  estimate.algbw_GBps = static_cast<double>(request.bytes().count()) /
                        (kBytesPerUsAndGBps * estimate.time_us);
  estimate.busbw_GBps = estimate.algbw_GBps *
                        BusBandwidthFactor(request.kind(), request.num_ranks());
  estimate.algorithm = algorithm.name;
  estimate.protocol = algorithm.protocol;
  estimate.source = algorithm.source;
  estimate.channels =
      algorithm.channels > 0 ? algorithm.channels : NumChannels(*graph);
  estimate.is_latency_bound = 2 * busiest.us < estimate.time_us;
  estimate.bottleneck = cluster.topology().LinkName(busiest.link);
  return estimate;
}

}  // namespace astra
