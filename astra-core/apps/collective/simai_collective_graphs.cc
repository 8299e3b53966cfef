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
absl::StatusOr<PlacedGroup> PlaceRanks(absl::Span<const RankId> ranks,
                                       const Topology& topology,
                                       const ChosenAlgorithm& algorithm) {
  if (algorithm.registered) {
    return PlaceGroup(*algorithm.registered, ranks, topology);
  }
  GroupLayout layout = GroupLayout::Of(ranks, topology);
  std::vector<NodeId> nodes = MemberNodes(ranks, layout, topology);
  return PlacedGroup{std::move(layout), std::move(nodes)};
}

// Returns the messages in which each rank sends its buffer, one chunk, to the
// next rank, and the last to the first.
std::shared_ptr<const FlowGraph> ShiftGraph(uint32_t num_ranks, Bytes bytes) {
  FlowGraph::Builder builder(num_ranks);
  const ChunkId buffer = builder.AddChunk({0, bytes.count()});
  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    builder.Add({.source = GroupRank(rank),
                 .target = GroupRank((rank + 1) % num_ranks),
                 .first_chunk = buffer,
                 .bytes = {}});
  }
  return std::move(builder).Build();
}

absl::StatusOr<std::shared_ptr<const FlowGraph>> GraphOf(
    const ChosenAlgorithm& algorithm, const LoweredCollective& collective,
    uint32_t root) {
  if (collective.kind == CollectiveKind::kSendRecv && algorithm.registered) {
    return ShiftGraph(collective.layout->num_ranks(), collective.bytes);
  }
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveRequest request,
      CollectiveRequest::Create(collective.kind, collective.bytes,
                                collective.layout));
  ASTRA_ASSIGN_OR_RETURN(request, request.With(algorithm.chunking));
  ASTRA_ASSIGN_OR_RETURN(request, request.WithRoot(GroupRank(root)));
  return algorithm.lower(request);
}

absl::StatusOr<LoweredCollective> LowerOver(absl::Span<const RankId> ranks,
                                            const Topology& topology,
                                            const ChosenAlgorithm& algorithm,
                                            CollectiveKind kind, Bytes bytes,
                                            uint32_t root) {
  ASTRA_ASSIGN_OR_RETURN(PlacedGroup group,
                         PlaceRanks(ranks, topology, algorithm));
  LoweredCollective collective = {
      kind, bytes, std::make_shared<const GroupLayout>(std::move(group.layout)),
      std::move(group.nodes), nullptr};
  ASTRA_ASSIGN_OR_RETURN(collective.graph,
                         GraphOf(algorithm, collective, root));
  const uint64_t num_flows = collective.graph->num_flows();
  if (num_flows <= kMaxGraphFlows) return collective;
  return absl::ResourceExhaustedError(fmt::format(
      "{} messages: more than the limit of {}; take fewer GPUs or channels",
      num_flows, kMaxGraphFlows));
}

// Graphs that do not use switches do not have them as members.
PlacedFlowGraph PlacedOf(const LoweredCollective& collective,
                         const MessageCosts& costs) {
  return {collective.graph,
          absl::MakeConstSpan(collective.nodes)
              .first(collective.graph->num_members()),
          costs, collective.layout.get()};
}

// Returns the costs with which what the closed form times takes as long by
// messages: the collective, or one pair of ranks of a send-recv.
absl::StatusOr<MessageCosts> PacedCosts(const CollectiveEstimator& cluster,
                                        const ChosenAlgorithm& algorithm,
                                        const LoweredCollective& collective,
                                        const NetworkChoice& network,
                                        Routes& routes) {
  constexpr uint32_t kNoRoot = 0;
  LoweredCollective timed = collective;
  if (collective.kind == CollectiveKind::kSendRecv) {
    ASTRA_ASSIGN_OR_RETURN(
        const std::vector<RankId> ranks,
        cluster.TimedRanks(collective.kind, collective.bytes));
    ASTRA_ASSIGN_OR_RETURN(
        timed, LowerOver(ranks, cluster.topology(), algorithm, collective.kind,
                         collective.bytes, kNoRoot));
  }
  ASTRA_ASSIGN_OR_RETURN(
      const NcclMessages paced,
      Paced(*algorithm.nccl, PlacedOf(timed, {}),
            PaceNetworkOf(network.fidelity, network.options, routes)));
  return CostsOf(paced, {});
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
  std::optional<ThreadBlocks> blocks;
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
    blocks = ThreadBlocksOf(schedule.MostConnections(),
                            cluster.system().architecture, cluster.topology());
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
  chosen.costs = CostsOfSimple(
      cluster.system(), NumServers(cluster) == 1, *options.kind, chosen.name,
      options.nccl.launch.value_or(Launch::kHost), blocks);
  return chosen;
}

absl::StatusOr<ChosenAlgorithm> FindNcclRun(const CollectiveEstimator& cluster,
                                            const NcclOptions& nccl,
                                            CollectiveKind kind, Bytes bytes) {
  constexpr size_t kTheGroup = 0;
  Routes routes(cluster.topology());
  ASTRA_ASSIGN_OR_RETURN(const std::vector<RankId> ranks,
                         cluster.TimedRanks(kind, bytes));
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveTimes times,
      CollectiveTimes::Create(kind, {ranks}, cluster.system(), nccl, routes));
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
  return LowerOver(cluster.ranks(), cluster.topology(), algorithm, kind, bytes,
                   root);
}

absl::StatusOr<CollectiveEstimate> TimeOnNetwork(
    const CollectiveEstimator& cluster, const ChosenAlgorithm& algorithm,
    const LoweredCollective& collective, const NetworkChoice& network,
    Routes& routes, Warnings* warnings) {
  MessageCosts costs = algorithm.costs;
  if (algorithm.nccl) {
    ASTRA_ASSIGN_OR_RETURN(
        costs, PacedCosts(cluster, algorithm, collective, network, routes));
  }
  ASTRA_ASSIGN_OR_RETURN(
      const GraphRun run,
      RunOn(network, PlacedOf(collective, costs), routes, warnings));
  const Busiest busiest = BusiestOf(cluster.topology(), run.link_bytes);
  constexpr double kBytesPerUsAndGBps = 1000;
  CollectiveEstimate estimate;
  estimate.time_us = ToMicroseconds(run.time);
  estimate.algbw_GBps = static_cast<double>(collective.bytes.count()) /
                        (kBytesPerUsAndGBps * estimate.time_us);
  estimate.busbw_GBps =
      estimate.algbw_GBps *
      BusBandwidthFactor(collective.kind, collective.layout->num_ranks());
  estimate.algorithm = algorithm.name;
  estimate.protocol = algorithm.protocol;
  estimate.source = algorithm.source;
  estimate.channels = algorithm.channels > 0 ? algorithm.channels
                                             : NumChannels(*collective.graph);
  estimate.is_latency_bound = 2 * busiest.us < estimate.time_us;
  estimate.bottleneck = cluster.topology().LinkName(busiest.link);
  return estimate;
}

}  // namespace astra
