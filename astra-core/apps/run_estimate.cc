#include "astra-core/apps/run_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "astra-core/apps/run_subject.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/traces/trace_communicators.h"
#include "astra-core/traces/trace_simulation.h"
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

// Returns the options of a run in closed form.
SimulationOptions InClosedForm(const SimulationOptions& options) {
  SimulationOptions closed_form;
  closed_form.collectives = options.collectives;
  closed_form.nccl = options.nccl;
  closed_form.simai = options.simai;
  return closed_form;
}

CostSetting WithMessages(const SimulationOptions& options) {
  return {.family = options.collectives,
          .nccl = options.nccl,
          .simai = options.simai,
          .measured = options.bus_bandwidths,
          .with_messages = true};
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

// What is estimated from: the collectives of a run in closed form, and what
// their messages are.
struct Work {
  const SimulationResult& result;
  const CollectiveCosts& costs;
  const Communicators& communicators;  // With each rank by itself.
  // Returns the index of the communicator of a record.
  std::function<uint32_t(const CollectiveRecord&)> communicator_of;
  // Returns how many groups run such a collective at a time.
  std::function<double(const CollectiveRecord&)> groups_at_once;
};

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

// Returns whether the run may count collectives again.
bool MayReplay(const RunSubject& subject) {
  const SimulationOptions& options = subject.simulation;
  return NetworkOf(subject.fidelity)->has_replays &&
         options.acceleration != Acceleration::kOff && !options.symmetric &&
         !options.ranks_differ() &&
         options.stop_at == SimulationOptions().stop_at &&
         subject.events.links.empty() && !subject.network.packet.record.flows;
}

// Returns bytes of memory. At most `most_flows` are under way at a time, or
// wait for one another.
double MemoryOf(const RunSubject& subject, const RunEstimate& estimate,
                double most_flows) {
  // Measured sizes; see docs/performance.md.
  constexpr double kBytesPerLink = 512;
  constexpr double kBytesPerFlow = 200;
  const BackendEntry& network = *NetworkOf(subject.fidelity);
  const RecordOptions& record = subject.network.packet.record;
  const double num_kept =
      network.records_flows && record.flows
          ? std::min(estimate.flows, static_cast<double>(record.max_records))
          : 0;
  const double hops =
      estimate.packets > 0 ? estimate.packet_hops / estimate.packets / 2 : 0;
  return kBytesPerFlow * most_flows +
         (sizeof(FlowRecord) + hops * sizeof(LinkId)) * num_kept +
         kBytesPerLink * static_cast<double>(subject.topology.links().size());
}

absl::StatusOr<RunEstimate> EstimateOf(const RunSubject& subject,
                                       const Work& work, Routes& routes) {
  const SimulationOptions& options = subject.simulation;
  CollectiveLowering lowering(options.collectives, options.simai,
                              options.message_costs, subject.topology,
                              CustomsOf(options));
  std::map<std::tuple<uint32_t, CollectiveKind, Bytes>, Load> loads;
  RunEstimate estimate;
  // Collectives that differ in more than their groups, once each.
  std::set<std::tuple<ParallelDimension, CollectiveKind, Bytes>> kinds;
  RunEstimate of_kinds;
  // Largest number of flows at a time, by dimension.
  std::array<double, kNumParallelDimensions> most_flows{};
  for (const CollectiveRecord& record : work.result.collectives) {
    const Communication& what = record.communication;
    const uint32_t id = work.communicator_of(record);
    const auto [load, is_new] =
        loads.try_emplace({id, what.kind, what.bytes}, Load());
    if (is_new) {
      const CollectiveCost& cost = work.costs.at({what.dimension, what.kind});
      ASTRA_ASSIGN_OR_RETURN(
          const CollectiveMessages messages,
          lowering.Lower(id, work.communicators.list[id], what, cost));
      ASTRA_ASSIGN_OR_RETURN(
          load->second, LoadOf(messages, subject.network.packet.nic, routes));
    }
    // With --symmetry, equal collectives run once, in all their groups.
    const double times = !options.symmetric ? static_cast<double>(record.count)
                                            : (is_new ? 1.0 : 0.0);
    Add(load->second, times * record.num_groups, estimate);
    if (kinds.emplace(what.dimension, what.kind, what.bytes).second) {
      Add(load->second, 1, of_kinds);
    }
    double& most = most_flows[IndexOf(what.dimension)];
    most = std::max(most, load->second.flows * work.groups_at_once(record));
  }
  estimate.memory_bytes =
      MemoryOf(subject, estimate,
               std::accumulate(most_flows.begin(), most_flows.end(), 0.0));
  const Speed speed = SpeedOf(*NetworkOf(subject.fidelity));
  estimate.seconds = speed.Seconds(estimate);
  if (MayReplay(subject)) {
    estimate.seconds_with_replays = speed.Seconds(of_kinds);
  }
  estimate.iteration = work.result.total();
  return estimate;
}

}  // namespace

absl::StatusOr<RunEstimate> EstimateRun(const RunRequest& request) {
  Routes routes(request.topology);
  const NetworkFactory new_network = [&] {
    return Backends().front().make(request.network, routes);
  };
  ASTRA_ASSIGN_OR_RETURN(
      const SimulationResult result,
      Simulate(request.program, InClosedForm(request.simulation), routes,
               new_network));
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(request.program.sizes()));
  const PipelineWiring wiring = WiringOf(request.program, plan);
  ASTRA_ASSIGN_OR_RETURN(
      const CollectiveCosts costs,
      FindCosts(UsedCollectives(request.program, plan), plan, wiring.pairs,
                WithMessages(request.simulation), routes));
  const Communicators communicators = FormCommunicators(
      plan, wiring, costs, /*each_rank=*/true, request.topology);
  std::map<std::pair<ParallelDimension, RankId>, uint32_t> group_of;
  for (uint32_t i = 0; i < communicators.list.size(); ++i) {
    const Communicator& group = communicators.list[i];
    group_of[{group.dimension, group.ranks.front()}] = i;
  }
  // The communicators of the result are those of classes.
  const auto communicator_of = [&](const CollectiveRecord& record) {
    return group_of.at({record.communication.dimension, record.lowest_rank});
  };
  const auto groups_at_once = [](const CollectiveRecord& record) {
    return static_cast<double>(record.num_groups);
  };
  return EstimateOf(
      SubjectOf(request),
      {result, costs, communicators, communicator_of, groups_at_once}, routes);
}

namespace {

// Returns, by communicator of a trace, how many groups may run a collective at
// a time: those of a family, or the channels of a tag.
std::vector<double> GroupsAtOnce(const TraceLanes& lanes) {
  std::vector<double> groups;
  for (const uint32_t family : lanes.family_of_group) {
    if (family == lanes.families.size()) continue;
    groups.push_back(static_cast<double>(lanes.families[family].size()));
  }
  std::map<int64_t, double> channels;  // By tag.
  for (const TraceChannel& channel : lanes.channels) ++channels[channel.tag];
  for (const TraceChannel& channel : lanes.channels) {
    groups.push_back(channels.at(channel.tag));
  }
  return groups;
}

}  // namespace

absl::StatusOr<RunEstimate> EstimateRun(const TraceRunRequest& request) {
  Routes routes(request.topology);
  const NetworkFactory new_network = [&] {
    return Backends().front().make(request.network, routes);
  };
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveCosts costs,
      FindTraceCosts(request.trace, request.lanes,
                     WithMessages(request.simulation), routes));
  SimulationOptions options = InClosedForm(request.simulation);
  options.costs = std::make_shared<const CollectiveCosts>(std::move(costs));
  ASTRA_ASSIGN_OR_RETURN(const SimulationResult result,
                         SimulateTrace(request.trace, request.lanes, options,
                                       routes, new_network));
  const Communicators communicators =
      FormTraceCommunicators(request.trace, request.lanes, request.topology);
  const std::vector<double> groups = GroupsAtOnce(request.lanes);
  return EstimateOf(
      SubjectOf(request),
      {result, *options.costs, communicators,
       [](const CollectiveRecord& record) { return record.communicator; },
       [&](const CollectiveRecord& record) {
         return groups[record.communicator];
       }},
      routes);
}

std::string DescribeEstimate(const RunEstimate& estimate, Fidelity fidelity) {
  const Speed speed = SpeedOf(*NetworkOf(fidelity));
  const std::string least =
      estimate.seconds_with_replays.value_or(estimate.seconds) <
              estimate.seconds
          ? fmt::format(
                "{:.3g} s if every kind of collective is simulated "
                "once, else up to ",
                *estimate.seconds_with_replays)
          : "";
  return fmt::format(
      "collectives  {:.6g}, of all groups\n"
      "flows        {:.6g} messages, {:.6g} bytes\n"
      "packets      {:.6g}; {:.6g} over links, with acknowledgements\n"
      "memory       {:.0f} MiB for messages under way, records and ports\n"
      "time         {}{:.3g} s of the {} network, at {} million {} a second\n"
      "iteration    {:.6f} ms in closed form, without congestion\n",
      estimate.collectives, estimate.flows, estimate.bytes, estimate.packets,
      estimate.packet_hops, std::ceil(estimate.memory_bytes / (1 << 20)), least,
      estimate.seconds, Name(fidelity), speed.per_second * 1e-6, speed.what,
      ToMicroseconds(estimate.iteration) * 1e-3);
}

}  // namespace astra
