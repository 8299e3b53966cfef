#include "astra-core/engine/message_costs.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "astra-core/base/check.h"
#include "collectives/nccl/tuning.h"
#include "collectives/nccl_algorithm.h"

namespace astra {
namespace {

TimePs FromUs(double us) { return TimePs(std::llround(us * kPsPerUs)); }

// NCCL's latencies for the Simple protocol, in microseconds: of a kernel, and
// of a step over each kind of link.
constexpr double kBaseUs = 8.4;
constexpr double kNvlinkStepUs = 3.4;
constexpr double kPcieStepUs = 5.7;
constexpr double kNetStepUs = 14;

Pace PaceOf(const Paces& paces, CollectiveKind kind, std::string_view name) {
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    if (RegistryName(algorithm) == name) return paces.of(algorithm);
  }
  return IsSendsAndReceives(kind) ? paces.direct
                                  : paces.of(NcclAlgorithm::kRing);
}

// Returns the server of a rank or NVSwitch; none for a switch of the fabric.
std::optional<uint32_t> ServerOf(GroupRank member, const GroupLayout& layout) {
  if (member.index() < layout.num_ranks()) return layout.server_of(member);
  const uint32_t place = member.index() - layout.num_ranks();
  const uint32_t per_server = layout.nv_switches_per_server();
  if (place >= per_server * layout.num_servers()) return std::nullopt;
  return place / per_server;
}

const HopCosts& HopOf(const MessageCosts& costs, const Flow& flow,
                      const GroupLayout* layout) {
  if (costs.within == costs.between) return costs.within;
  ASTRA_CHECK(layout != nullptr, "costs by servers, but no layout");
  const std::optional<uint32_t> source = ServerOf(flow.source, *layout);
  return source && source == ServerOf(flow.target, *layout) ? costs.within
                                                            : costs.between;
}

}  // namespace

TimePs MessageCosts::BeforeSending(FlowId id, const Flow& flow,
                                   const GroupLayout* layout) const {
  const bool is_later = id.index() >= later.begin && id.index() < later.end;
  const TimePs always = per_message + (is_later ? later.delay : TimePs());
  const TimePs latency = HopOf(*this, flow, layout).latency;
  if (latency == TimePs(0)) return always;
  ASTRA_CHECK(layout != nullptr, "a latency of hops, but no layout");
  const int num_ranks = (flow.source.index() < layout->num_ranks()) +
                        (flow.target.index() < layout->num_ranks());
  return always + TimePs(latency.count() * num_ranks / 2);
}

Bytes MessageCosts::OnWire(const Flow& flow, const GroupLayout* layout) const {
  const double share =
      wire_bytes_per_byte * HopOf(*this, flow, layout).wire_bytes_per_byte;
  if (share == 1) return flow.bytes;
  return Bytes(static_cast<int64_t>(
      std::ceil(share * static_cast<double>(flow.bytes.count()))));
}

TimePs MessageCosts::AtTarget(const Flow& flow, uint32_t num_ranks) const {
  if (flow.target.index() >= num_ranks) return TimePs(0);
  const double ps_per_byte =
      flow.op == FlowOp::kReduce ? reduce_ps_per_byte : copy_ps_per_byte;
  return TimePs(
      std::llround(ps_per_byte * static_cast<double>(flow.bytes.count())));
}

ThreadBlocks ThreadBlocksOf(uint32_t connections, GpuArchitecture architecture,
                            const Topology& topology) {
  constexpr double kBitsPerGB = 8e9;
  ThreadBlocks blocks;
  blocks.GBps = connections * ChannelGBps(architecture);
  for (uint32_t rank = 0; rank < topology.num_gpus(); ++rank) {
    double within = 0;
    double between = 0;
    for (const LinkId link :
         topology.links_from(Topology::NodeOf(RankId(rank)))) {
      const NodeId target = topology.link(link).target;
      const bool leaves = topology.kind(target) == NodeKind::kSwitch;
      const auto rate =
          static_cast<double>(topology.type(link).bandwidth.count());
      (leaves ? between : within) += rate / kBitsPerGB;
    }
    blocks.within_GBps = std::max(blocks.within_GBps, within);
    blocks.between_GBps = std::max(blocks.between_GBps, between);
  }
  return blocks;
}

MessageCosts CostsOfSimple(const SystemSpec& system, bool is_one_server,
                           CollectiveKind kind, std::string_view name,
                           Launch launch,
                           const std::optional<ThreadBlocks>& blocks) {
  constexpr double kHopsOfSimple = 2;  // Data and flush.
  const bool is_pcie = system.interconnect.kind == InterconnectKind::kPcie;
  double launch_us = launch == Launch::kGraph
                         ? system.interconnect.graph_launch_us
                         : system.interconnect.launch_us;
  if (!is_one_server) {
    launch_us = std::max(launch_us, system.transport.launch_us);
  }
  if (launch == Launch::kQueued) launch_us = 0;
  MessageCosts costs;
  costs.within.latency = FromUs(is_pcie ? kPcieStepUs : kNvlinkStepUs);
  costs.within.wire_bytes_per_byte =
      std::max(1 / PaceOf(system.interconnect.paces, kind, name).efficiency,
               blocks ? blocks->within_GBps / blocks->GBps : 0);
  costs.between.latency =
      FromUs(kNetStepUs + kHopsOfSimple * system.transport.latency_us);
  costs.between.wire_bytes_per_byte =
      std::max(1 / PaceOf(system.transport.paces, kind, name).efficiency,
               blocks ? blocks->between_GBps / blocks->GBps : 0);
  costs.start = FromUs(kBaseUs);
  costs.least = FromUs(launch_us);
  return costs;
}

MessageCosts CostsOf(const NcclMessages& nccl, MessageCosts of_all) {
  const auto add = [](const NcclMessages::Hop& hop, HopCosts& costs) {
    costs.latency += FromUs(hop.latency_us);
    costs.wire_bytes_per_byte *= hop.wire_bytes_per_byte;
  };
  add(nccl.within, of_all.within);
  add(nccl.between, of_all.between);
  of_all.start += FromUs(nccl.start_us);
  of_all.least = std::max(of_all.least, FromUs(nccl.least_us));
  return of_all;
}

}  // namespace astra
