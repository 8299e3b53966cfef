#include "astra-core/apps/run_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/simulation_setting.h"
#include "fmt/core.h"
#include "network-frontends/network_statistics.h"
#include "topology/routes.h"

namespace astra {
namespace {

// Traffic of one collective, from which the time of the run is estimated.
struct Load {
  double flows = 0;
  double bytes = 0;
  double packets = 0;
  double packet_hops = 0;
};

absl::StatusOr<SimulationResult> InClosedForm(const RunRequest& request,
                                              Routes& routes) {
  SimulationOptions options;
  options.collectives = request.simulation.collectives;
  options.nccl = request.simulation.nccl;
  options.simai = request.simulation.simai;
  const NetworkFactory new_network = [&] {
    return Backends().front().make(request.network, routes);
  };
  return Simulate(request.program, options, routes, new_network);
}

// Estimates the load from a sample of the flows: every n-th flow.
absl::StatusOr<Load> LoadOf(const CollectiveMessages& messages,
                            const NicOptions& nic, Routes& routes) {
  const FlowGraph& graph = *messages.graph;
  const uint64_t step =
      std::max<uint64_t>(1, graph.num_flows() / kSampledFlows);
  const double weight = static_cast<double>(step);
  const auto payload = static_cast<double>(nic.payload.count());
  Load load;
  for (uint64_t i = 0; i < graph.num_flows(); i += step) {
    const Flow flow = graph.flow(FlowId(i));
    const auto bytes = static_cast<double>(
        messages.costs.OnWire(flow, messages.layout.get()).count());
    ASTRA_ASSIGN_OR_RETURN(
        const Route route,
        routes.FindNodes((*messages.nodes)[flow.source.index()],
                         (*messages.nodes)[flow.target.index()]));
    const double packets = std::max(1.0, std::ceil(bytes / payload));
    const double acks = std::ceil(packets / nic.packets_per_ack);
    load.bytes += weight * bytes;
    load.packets += weight * packets;
    load.packet_hops += weight * (packets + acks) * route.num_hops;
  }
  load.flows = static_cast<double>(graph.num_flows());
  return load;
}

struct Setting {
  CollectiveCosts costs;
  Communicators communicators;
};

absl::StatusOr<Setting> Prepare(const RunRequest& request, Routes& routes) {
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(request.program.sizes()));
  const CollectiveSizes used = UsedCollectives(request.program, plan);
  const PipelineWiring wiring = WiringOf(request.program, plan);
  const SimulationOptions& options = request.simulation;
  const CostSetting how = {.family = options.collectives,
                           .nccl = options.nccl,
                           .simai = options.simai,
                           .measured = options.bus_bandwidths,
                           .with_messages = true};
  ASTRA_ASSIGN_OR_RETURN(CollectiveCosts costs,
                         FindCosts(used, plan, wiring.pairs, how, routes));
  Communicators communicators = FormCommunicators(
      plan, wiring, costs, /*each_rank=*/true, request.topology);
  return Setting{std::move(costs), std::move(communicators)};
}

void Add(const Load& load, double times, RunEstimate& estimate) {
  estimate.collectives += times;
  estimate.flows += times * load.flows;
  estimate.bytes += times * load.bytes;
  estimate.packets += times * load.packets;
  estimate.packet_hops += times * load.packet_hops;
}

// Speed of a backend on one core.
struct Speed {
  bool is_of_packets = false;  // Unit: packets over links, else messages.
  double per_second = 0;
  std::string_view what;

  double Seconds(const RunEstimate& estimate) const {
    return (is_of_packets ? estimate.packet_hops : estimate.flows) / per_second;
  }
};

Speed SpeedOf(const BackendEntry& backend) {
  if (backend.records_packets) {
    return {true, kPacketHopsPerSecond, "packets over links"};
  }
  return {false,
          backend.records_flows ? kFlowMessagesPerSecond
                                : kAnalyticalMessagesPerSecond,
          "messages"};
}

// Returns bytes of memory. At most `most_flows` are under way at a time, or
// wait for one another.
double MemoryOf(const RunRequest& request, const RunEstimate& estimate,
                double most_flows) {
  // Measured sizes; see docs/performance.md.
  constexpr double kBytesPerLink = 512;
  constexpr double kBytesPerFlow = 200;
  const BackendEntry& network = *NetworkOf(request.fidelity);
  const RecordOptions& record = request.network.packet.record;
  const double num_kept =
      network.records_flows && record.flows
          ? std::min(estimate.flows, static_cast<double>(record.max_records))
          : 0;
  const double hops =
      estimate.packets > 0 ? estimate.packet_hops / estimate.packets / 2 : 0;
  return kBytesPerFlow * most_flows +
         (sizeof(FlowRecord) + hops * sizeof(LinkId)) * num_kept +
         kBytesPerLink * static_cast<double>(request.topology.links().size());
}

}  // namespace

absl::StatusOr<RunEstimate> EstimateRun(const RunRequest& request) {
  Routes routes(request.topology);
  ASTRA_ASSIGN_OR_RETURN(const SimulationResult result,
                         InClosedForm(request, routes));
  ASTRA_ASSIGN_OR_RETURN(const Setting setting, Prepare(request, routes));
  std::map<std::pair<ParallelDimension, RankId>, uint32_t> group_of;
  const std::vector<Communicator>& groups = setting.communicators.list;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    group_of[{groups[i].dimension, groups[i].ranks.front()}] = i;
  }
  CollectiveLowering lowering(request.simulation.collectives,
                              request.simulation.simai,
                              request.simulation.message_costs,
                              request.topology, CustomsOf(request.simulation));
  std::map<std::tuple<uint32_t, CollectiveKind, Bytes>, Load> loads;
  RunEstimate estimate;
  // Largest number of flows at a time, by dimension.
  std::array<double, kNumParallelDimensions> most_flows{};
  for (const CollectiveRecord& record : result.collectives) {
    const Communication& what = record.communication;
    const uint32_t id = group_of.at({what.dimension, record.lowest_rank});
    const auto [load, is_new] =
        loads.try_emplace({id, what.kind, what.bytes}, Load());
    if (is_new) {
      const CollectiveCost& cost =
          setting.costs.at({what.dimension, what.kind});
      ASTRA_ASSIGN_OR_RETURN(const CollectiveMessages messages,
                             lowering.Lower(id, groups[id], what, cost));
      ASTRA_ASSIGN_OR_RETURN(
          load->second, LoadOf(messages, request.network.packet.nic, routes));
    }
    // With --symmetry, equal collectives run once, in all their groups.
    const double times = !request.simulation.symmetric
                             ? static_cast<double>(record.count)
                             : (is_new ? 1.0 : 0.0);
    Add(load->second, times * record.num_groups, estimate);
    double& most = most_flows[IndexOf(what.dimension)];
    most = std::max(most, load->second.flows * record.num_groups);
  }
  estimate.memory_bytes =
      MemoryOf(request, estimate,
               std::accumulate(most_flows.begin(), most_flows.end(), 0.0));
  estimate.seconds = SpeedOf(*NetworkOf(request.fidelity)).Seconds(estimate);
  estimate.iteration = result.total();
  return estimate;
}

std::string DescribeEstimate(const RunEstimate& estimate, Fidelity fidelity) {
  const Speed speed = SpeedOf(*NetworkOf(fidelity));
  return fmt::format(
      "collectives  {:.6g}, of all groups\n"
      "flows        {:.6g} messages, {:.6g} bytes\n"
      "packets      {:.6g}; {:.6g} over links, with acknowledgements\n"
      "memory       {:.0f} MiB for messages under way, records and ports\n"
      "time         {:.3g} s of the {} network, at {} million {} a second\n"
      "iteration    {:.6f} ms in closed form, without congestion\n",
      estimate.collectives, estimate.flows, estimate.bytes, estimate.packets,
      estimate.packet_hops, std::ceil(estimate.memory_bytes / (1 << 20)),
      estimate.seconds, Name(fidelity), speed.per_second * 1e-6, speed.what,
      ToMicroseconds(estimate.iteration) * 1e-3);
}

}  // namespace astra
