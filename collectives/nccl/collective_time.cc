#include "collectives/nccl/collective_time.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/group_hardware.h"
#include "collectives/nccl/nccl_chunking.h"
#include "collectives/registry.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kPsPerUs = 1e6;
constexpr double kUsPerNs = 1e-3;
constexpr double kPsPerByteAndGBps = 1000;
constexpr double kBytesPerMiB = 1024 * 1024;

// Returns the bytes on the wire for each byte of the buffer.
double WireShare(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::kLl:
      return 2;
    case NcclProtocol::kLl128:
      return 128.0 / 120;
    case NcclProtocol::kSimple:
      break;
  }
  return 1;
}

bool IsWithinServer(const Topology& topology, const Link& link) {
  return topology.kind(link.source) != NodeKind::kSwitch &&
         topology.kind(link.target) != NodeKind::kSwitch;
}

absl::Status Check(const NcclOptions& options, const SystemSpec& system) {
  if (options.max_channels > 0 && options.min_channels > options.max_channels) {
    return absl::InvalidArgumentError(fmt::format(
        "NCCL_MIN_NCHANNELS is {}, more than NCCL_MAX_NCHANNELS, {}",
        options.min_channels, options.max_channels));
  }
  if (options.collnet && !system.sharp) {
    return absl::InvalidArgumentError(fmt::format(
        "NCCL_COLLNET_ENABLE=1 has no effect: the fabric of {} does not reduce "
        "(sharp: false)",
        system.name));
  }
  return absl::OkStatus();
}

Pace PaceOf(const Paces& paces, std::optional<NcclAlgorithm> algorithm,
            bool symmetric) {
  if (symmetric) return paces.symmetric;
  return algorithm ? paces.of(*algorithm) : paces.direct;
}

}  // namespace

TimePs SizedTime::TimeOf(Bytes bytes) const {
  const auto size = static_cast<double>(bytes.count());
  const double us = latency_us + ps_per_byte * size / kPsPerUs +
                    ramp_us * size / (size + ramp_bytes);
  const double ps = std::max(launch_us, us) * kPsPerUs;
  if (ps >= static_cast<double>(kMaxCollectiveTime.count())) {
    return kMaxCollectiveTime;
  }
  return TimePs(std::llround(ps));
}

CollectiveTimes::CollectiveTimes(CollectiveKind kind,
                                 std::vector<std::vector<RankId>> groups,
                                 const SystemSpec& system, NcclOptions options,
                                 Routes& routes)
    : kind_(kind),
      groups_(std::move(groups)),
      system_(system),
      options_(std::move(options)),
      routes_(routes) {}

absl::StatusOr<CollectiveTimes> CollectiveTimes::Create(
    CollectiveKind kind, std::vector<std::vector<RankId>> groups,
    const SystemSpec& system, const NcclOptions& asked, Routes& routes) {
  ASTRA_ASSIGN_OR_RETURN(const NcclOptions options,
                         WithDefaults(asked, system.transport.nccl));
  ASTRA_RETURN_IF_ERROR(Check(options, system));
  CollectiveTimes times(kind, std::move(groups), system, options, routes);
  std::map<GroupHardware, uint32_t> ids;
  for (const std::vector<RankId>& group : times.groups_) {
    ASTRA_ASSIGN_OR_RETURN(const GroupHardware hardware,
                           HardwareOf(group, system, routes.topology()));
    const auto next = static_cast<uint32_t>(times.tables_.size());
    const auto [place, is_new] = ids.try_emplace(hardware, next);
    if (is_new) times.tables_.push_back(Tune(kind, hardware, options));
    times.table_of_group_.push_back(place->second);
  }
  if (options.symmetric && times.NumServers() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("symmetric buffers have no effect on groups over {} "
                    "servers: their kernels are for one",
                    times.NumServers()));
  }
  ASTRA_RETURN_IF_ERROR(times.AddDetours());
  return times;
}

// Finds the detour of each group: from its first rank to the next server, and
// to the last rank, which often is the farthest.
absl::Status CollectiveTimes::AddDetours() {
  const Topology& topology = routes_.topology();
  const double one_switch_us =
      2 * kUsPerNs * system_.transport.fabric_latency_ns;
  for (const std::vector<RankId>& group : groups_) {
    const uint32_t server = topology.ServerOf(group.front());
    const auto next = std::find_if(
        group.begin(), group.end(),
        [&](RankId rank) { return topology.ServerOf(rank) != server; });
    double detour_us = 0;
    if (next != group.end()) {
      for (const RankId target : {*next, group.back()}) {
        if (topology.ServerOf(target) == server) continue;
        ASTRA_ASSIGN_OR_RETURN(const Route route,
                               routes_.Find(group.front(), target));
        const double us = static_cast<double>(route.latency.count()) / kPsPerUs;
        detour_us = std::max(detour_us, us - one_switch_us);
      }
    }
    detour_us_.push_back(detour_us);
  }
  return absl::OkStatus();
}

// Returns the latency of one message of sends and receives, and of posting the
// messages to ranks of other servers.
LatencyParts CollectiveTimes::PointToPoint(
    const GroupHardware& hardware) const {
  constexpr double kBaseUs = 8.4;
  constexpr double kNvlinkUs = 3.4;
  constexpr double kNetUs = 14;
  const double post_us = hardware.cpu == CpuVendor::kAmd ? 2 : 1;
  const double peers = kind_ == CollectiveKind::kAllToAll
                           ? hardware.num_ranks - hardware.ranks_per_server
                           : 1;
  return {kBaseUs, kNvlinkUs,
          kNetUs + 2 * hardware.net_latency_us + peers * post_us};
}

double CollectiveTimes::PointToPointUs(const GroupHardware& hardware) const {
  const LatencyParts parts = PointToPoint(hardware);
  return parts.start_us +
         (hardware.num_servers == 1 ? parts.within_us : parts.between_us);
}

double CollectiveTimes::LaunchUs(const GroupHardware& hardware) const {
  const double within = options_.cuda_graph
                            ? system_.interconnect.graph_launch_us
                            : system_.interconnect.launch_us;
  return hardware.num_servers == 1
             ? within
             : std::max(within, system_.transport.launch_us);
}

bool CollectiveTimes::IsSymmetric() const {
  return options_.symmetric && (kind_ == CollectiveKind::kAllReduce ||
                                kind_ == CollectiveKind::kAllGather ||
                                kind_ == CollectiveKind::kReduceScatter);
}

double CollectiveTimes::EfficiencyWithin(const Pace& pace) const {
  const double rate = tables_.front().hardware.link_GBps;
  const double sheet = system_.interconnect.GBps;
  return rate < sheet ? std::min(1.0, pace.efficiency * sheet / rate)
                      : pace.efficiency;
}

uint32_t CollectiveTimes::NumServers() const {
  uint32_t num_servers = 1;
  for (const TuningTable& table : tables_) {
    num_servers = std::max(num_servers, table.hardware.num_servers);
  }
  return num_servers;
}

double CollectiveTimes::QueuePairShare() const {
  const uint32_t num_servers = NumServers();
  if (options_.queue_pairs > 1 || num_servers <= 2) return 1;
  return std::pow(system_.transport.one_queue_pair, 1 - 2.0 / num_servers);
}

absl::StatusOr<CollectiveTimes::Chosen> CollectiveTimes::ChooseFor(
    size_t group, Bytes bytes) const {
  const TuningTable& table = tuning(group);
  const GroupHardware& hardware = table.hardware;
  if (IsSendsAndReceives(kind_)) {
    constexpr uint32_t kPointToPointChannels = 32;
    const uint32_t channels =
        options_.max_channels == 0
            ? kPointToPointChannels
            : std::min(kPointToPointChannels, options_.max_channels);
    const bool by_rail = kind_ == CollectiveKind::kAllToAll && options_.pxn &&
                         hardware.num_servers > 1 &&
                         hardware.ranks_per_server > 1;
    return Chosen{std::nullopt, NcclProtocol::kSimple, channels,
                  PointToPointUs(hardware), by_rail ? "pxn" : "direct"};
  }
  ASTRA_ASSIGN_OR_RETURN(const size_t winner, Choose(table, bytes));
  const TuningCandidate& candidate = table.candidates[winner];
  Chosen chosen = {candidate.algorithm, candidate.protocol, candidate.channels,
                   candidate.latency_us, RegistryName(candidate.algorithm)};
  const bool is_ring_of_steps = kind_ == CollectiveKind::kAllReduce ||
                                kind_ == CollectiveKind::kAllGather ||
                                kind_ == CollectiveKind::kReduceScatter;
  if (options_.cross_nic == 1 && is_ring_of_steps &&
      chosen.algorithm == NcclAlgorithm::kRing) {
    // Its rings leave a server on another rail than the one on which they came.
    chosen.registry_name = "simai_ring";
  }
  if (kind_ == CollectiveKind::kBroadcast || kind_ == CollectiveKind::kReduce) {
    // Data passes through all ranks, although NCCL's latency ignores it.
    for (const TuningCandidate& all_gather :
         Tune(CollectiveKind::kAllGather, hardware, options_).candidates) {
      if (all_gather.algorithm == chosen.algorithm &&
          all_gather.protocol == chosen.protocol) {
        chosen.latency_us = all_gather.latency_us;
      }
    }
  }
  return chosen;
}

absl::StatusOr<const ClosedForms*> CollectiveTimes::FormsOf(
    const Chosen& chosen) {
  const auto found = forms_.find(chosen.registry_name);
  if (found != forms_.end()) return &found->second;
  ASTRA_ASSIGN_OR_RETURN(const CollectiveAlgorithm algorithm,
                         FindCollectiveAlgorithm(kind_, chosen.registry_name));
  const Topology& topology = routes_.topology();
  const double within = EfficiencyWithin(
      PaceOf(system_.interconnect.paces, chosen.algorithm, IsSymmetric()));
  const double between =
      PaceOf(system_.transport.paces, chosen.algorithm, false).efficiency *
      QueuePairShare();
  std::vector<double> efficiency;
  efficiency.reserve(topology.links().size());
  for (const Link& link : topology.links()) {
    efficiency.push_back(IsWithinServer(topology, link) ? within : between);
  }
  absl::StatusOr<ClosedForms> forms =
      LayOnLinks(algorithm, groups_, routes_, efficiency);
  if (forms.status().code() == absl::StatusCode::kResourceExhausted) {
    return absl::ResourceExhaustedError(fmt::format(
        "an {} over {} ranks has more pairs of ranks than can be laid on links",
        Name(kind_), groups_.front().size()));
  }
  ASTRA_RETURN_IF_ERROR(forms.status());
  return &forms_.emplace(chosen.registry_name, *std::move(forms)).first->second;
}

double CollectiveTimes::CopyPsPerByte(const GroupHardware& hardware) const {
  return kPsPerByteAndGBps / hardware.num_ranks /
         system_.interconnect.copy_GBps;
}

void CollectiveTimes::AddKernelLimits(const Chosen& chosen,
                                      const GroupHardware& hardware,
                                      SizedTime* time) const {
  const bool is_ring = chosen.algorithm == NcclAlgorithm::kRing;
  double bus_rate = chosen.channels * ChannelGBps(hardware.architecture);
  if (is_ring && chosen.protocol == NcclProtocol::kLl &&
      hardware.num_servers == 1) {
    bus_rate = std::min(bus_rate, system_.interconnect.ll_GBps);
  }
  time->ps_per_byte =
      std::max(time->ps_per_byte,
               kPsPerByteAndGBps *
                   BusBandwidthFactor(kind_, hardware.num_ranks) / bus_rate);
  if (!is_ring) return;
  time->ps_per_byte += CopyPsPerByte(hardware);
}

SizedTime CollectiveTimes::SizedTimeOf(const Chosen& chosen, size_t group,
                                       const ClosedForm& form) const {
  const GroupHardware& hardware = tuning(group).hardware;
  const bool is_one_server = hardware.num_servers == 1;
  const bool is_symmetric = IsSymmetric();
  const Pace pace = PaceOf(
      is_one_server ? system_.interconnect.paces : system_.transport.paces,
      chosen.algorithm, is_symmetric);
  const bool is_tree = chosen.algorithm == NcclAlgorithm::kTree ||
                       chosen.algorithm == NcclAlgorithm::kNvlsTree;
  const double levels =
      is_tree && !is_one_server ? std::log2(hardware.num_servers) : 1;
  SizedTime time;
  time.launch_us = LaunchUs(hardware);
  time.latency_us =
      is_symmetric ? system_.interconnect.symmetric_us : chosen.latency_us;
  time.latency_us +=
      detour_us_[group] *
      (chosen.algorithm ? NumCrossings(*chosen.algorithm, kind_, hardware) : 1);
  time.ps_per_byte = form.ps_per_byte;
  if (!is_symmetric) time.ps_per_byte *= WireShare(chosen.protocol);
  if (!is_symmetric) AddKernelLimits(chosen, hardware, &time);
  time.ramp_us = pace.ramp_us * levels;
  time.ramp_bytes = pace.ramp_MiB * kBytesPerMiB;
  return time;
}

absl::StatusOr<TimedCollective> CollectiveTimes::Time(size_t group,
                                                      Bytes bytes) {
  ASTRA_ASSIGN_OR_RETURN(const Chosen chosen, ChooseFor(group, bytes));
  ASTRA_ASSIGN_OR_RETURN(const ClosedForms* forms, FormsOf(chosen));
  const ClosedForms::Group& form = forms->groups[group];
  const SizedTime sized = SizedTimeOf(chosen, group, form.form);
  TimedCollective result;
  result.algorithm = chosen.algorithm ? Name(*chosen.algorithm) : "P2P";
  result.protocol = Name(chosen.protocol);
  result.channels = chosen.channels;
  if (IsSymmetric()) {
    result.algorithm = "Symmetric";
    result.protocol = Name(NcclProtocol::kSimple);
  }
  result.time = sized.TimeOf(bytes);
  const double wire_ps = sized.ps_per_byte * static_cast<double>(bytes.count());
  result.is_latency_bound =
      2 * wire_ps < static_cast<double>(result.time.count());
  result.bottleneck = form.bottleneck;
  result.registry_name = chosen.registry_name;
  return result;
}

NcclMessages::Hop CollectiveTimes::HopWithin(const Chosen& chosen,
                                             double latency_us) const {
  const double propagation_us = 2 * kUsPerNs * system_.interconnect.latency_ns;
  return {std::max(0.0, latency_us - propagation_us),
          WireShare(chosen.protocol) /
              EfficiencyWithin(
                  PaceOf(system_.interconnect.paces, chosen.algorithm, false))};
}

NcclMessages::Hop CollectiveTimes::HopBetween(const Chosen& chosen,
                                              double latency_us) const {
  const double propagation_us =
      2 * kUsPerNs * system_.transport.fabric_latency_ns;
  return {
      std::max(0.0, latency_us - propagation_us),
      WireShare(chosen.protocol) /
          PaceOf(system_.transport.paces, chosen.algorithm, false).efficiency};
}

absl::StatusOr<NcclMessages> CollectiveTimes::Messages(size_t group,
                                                       Bytes bytes) const {
  if (IsSymmetric()) {
    return absl::FailedPreconditionError(fmt::format(
        "the {} on symmetric buffers is no set of messages: only closed forms "
        "know its kernels",
        Name(kind_)));
  }
  ASTRA_ASSIGN_OR_RETURN(const Chosen chosen, ChooseFor(group, bytes));
  const GroupHardware& hardware = tuning(group).hardware;
  const LatencyParts parts =
      chosen.algorithm
          ? LatencyPartsOf(*chosen.algorithm, chosen.protocol, kind_, hardware)
          : PointToPoint(hardware);
  NcclMessages messages = {
      .registry_name = chosen.registry_name,
      .chunking = {},
      .start_us = parts.start_us,
      .least_us = LaunchUs(hardware),
      .within = HopWithin(chosen, parts.within_us),
      .between = HopBetween(chosen, parts.between_us),
  };
  if (chosen.algorithm) {
    messages.chunking = NcclChunking(*chosen.algorithm, chosen.protocol, kind_,
                                     bytes, chosen.channels, hardware);
  }
  if (chosen.algorithm == NcclAlgorithm::kRing) {
    messages.start_us +=
        CopyPsPerByte(hardware) / kPsPerUs * static_cast<double>(bytes.count());
  }
  return messages;
}

absl::StatusOr<std::vector<uint32_t>> CollectiveTimes::Classify(
    absl::Span<const Bytes> sizes) {
  // The first group of each table chooses as all of its groups do.
  for (size_t table = 0; table < tables_.size(); ++table) {
    const auto first =
        std::find(table_of_group_.begin(), table_of_group_.end(), table);
    const auto group = static_cast<size_t>(first - table_of_group_.begin());
    for (const Bytes bytes : sizes) {
      ASTRA_RETURN_IF_ERROR(Time(group, bytes).status());
    }
  }
  using Key = std::tuple<uint32_t, double, std::vector<ClosedForm>>;
  std::map<Key, uint32_t> ids;
  std::vector<uint32_t> classes;
  for (size_t group = 0; group < groups_.size(); ++group) {
    Key key = {table_of_group_[group], detour_us_[group], {}};
    for (const auto& [_, forms] : forms_) {
      std::get<2>(key).push_back(forms.groups[group].form);
    }
    const auto next = static_cast<uint32_t>(ids.size());
    classes.push_back(ids.try_emplace(std::move(key), next).first->second);
  }
  return classes;
}

absl::StatusOr<absl::Span<const double>> CollectiveTimes::LinkBytesPerByte(
    Bytes bytes) {
  ASTRA_ASSIGN_OR_RETURN(const Chosen chosen, ChooseFor(0, bytes));
  ASTRA_ASSIGN_OR_RETURN(const ClosedForms* forms, FormsOf(chosen));
  return absl::MakeConstSpan(forms->link_bytes_per_byte);
}

}  // namespace astra
