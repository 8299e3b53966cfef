#include "collectives/nccl/collective_time.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/engine_time.h"
#include "collectives/nccl/group_hardware.h"
#include "collectives/nccl/point_to_point.h"
#include "collectives/registry.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kBytesPerKiB = 1024;
constexpr double kBytesPerMiB = 1024 * 1024;

// Returns the collective with its measured time. The busiest link is no longer
// busy than by the model.
TimedCollective AsMeasured(const SourcedTime& measured, TimedCollective timed) {
  constexpr double kMost = static_cast<double>(kMaxCollectiveTime.count());
  timed.time =
      TimePs(std::llround(std::min(kMost, measured.time_us * kPsPerUs)));
  timed.transfer = std::min(timed.transfer, timed.time);
  timed.source = measured.source;
  return timed;
}

absl::Status Check(const NcclOptions& options, const SystemSpec& system) {
  if (options.max_channels > 0 && options.min_channels > options.max_channels) {
    return absl::InvalidArgumentError(fmt::format(
        "NCCL_MIN_NCHANNELS is {}, more than NCCL_MAX_NCHANNELS, {}",
        options.min_channels, options.max_channels));
  }
  if (options.symmetric && options.engine) {
    return absl::InvalidArgumentError(fmt::format(
        "symmetric buffers have no effect beside the engine {}, which has "
        "kernels of its own",
        options.engine->name));
  }
  ASTRA_RETURN_IF_ERROR(CheckVersion(options));
  if (options.collnet && !system.sharp) {
    return absl::InvalidArgumentError(fmt::format(
        "NCCL_COLLNET_ENABLE=1 has no effect: the fabric of {} does not reduce "
        "(sharp: false)",
        system.name));
  }
  return absl::OkStatus();
}

// Returns the pace of NCCL's choice; without an algorithm it sends messages.
Pace PaceOf(const Paces& paces, CollectiveKind kind,
            std::optional<NcclAlgorithm> algorithm) {
  if (algorithm) return paces.of(*algorithm);
  return kind == CollectiveKind::kSendRecv ? paces.send_recv : paces.direct;
}

}  // namespace

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
    if (is_new) {
      times.first_group_.push_back(times.table_of_group_.size());
      times.tables_.push_back(Tune(kind, hardware, options));
    }
    times.table_of_group_.push_back(place->second);
  }
  if (options.symmetric && times.NumServers() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("symmetric buffers have no effect on groups over {} "
                    "servers: their kernels are for one",
                    times.NumServers()));
  }
  ASTRA_RETURN_IF_ERROR(times.AddPropagation());
  return times;
}

absl::Status CollectiveTimes::AddPropagation() {
  for (const std::vector<RankId>& group : groups_) {
    ASTRA_ASSIGN_OR_RETURN(propagation_.emplace_back(),
                           PropagationOf(group, system_, routes_));
  }
  return absl::OkStatus();
}

HopExtra CollectiveTimes::ExtraOf(std::optional<NcclAlgorithm> algorithm,
                                  size_t group) const {
  return algorithm == NcclAlgorithm::kRing ? propagation_[group].to_next
                                           : propagation_[group].to_far;
}

const ProtocolLatency& CollectiveTimes::LatencyOf(
    std::optional<NcclAlgorithm> algorithm, NcclProtocol protocol,
    const GroupHardware& hardware) const {
  static constexpr ProtocolLatency kAsNcclSays;
  const Latencies& latencies = system_.interconnect.latencies;
  if (hardware.num_servers > 1) return kAsNcclSays;
  if (!algorithm) return latencies.direct;
  return algorithm == NcclAlgorithm::kNvls
             ? latencies.nvls
             : latencies.protocols[IndexOf(protocol)];
}

LatencyScale CollectiveTimes::ScaleOf(NcclAlgorithm algorithm,
                                      NcclProtocol protocol,
                                      const GroupHardware& hardware) const {
  const ProtocolLatency& latency = LatencyOf(algorithm, protocol, hardware);
  return {.start = latency.start, .within = latency.hop};
}

LatencyParts CollectiveTimes::PointToPoint(
    const GroupHardware& hardware) const {
  return PointToPointParts(
      kind_, hardware,
      LatencyOf(std::nullopt, NcclProtocol::kSimple, hardware));
}

bool CollectiveTimes::IsOfEngine(const GroupHardware& hardware) const {
  return options_.engine && kind_ == CollectiveKind::kAllReduce &&
         hardware.num_servers == 1;
}

double CollectiveTimes::LaunchUs(const Chosen& chosen,
                                 const GroupHardware& hardware) const {
  if (options_.launch == Launch::kQueued) return 0;
  if (IsOfEngine(hardware)) {
    return EngineLaunchUs(*options_.engine, chosen.kernel, system_.interconnect,
                          options_.launch);
  }
  const double within = options_.launch == Launch::kGraph
                            ? system_.interconnect.graph_launch_us
                            : system_.interconnect.launch_us;
  return hardware.num_servers == 1
             ? within
             : std::max(within, system_.transport.launch_us);
}

bool CollectiveTimes::IsSymmetric() const {
  return options_.symmetric && HasSymmetricKernels(kind_);
}

CollectiveTimes::Chosen CollectiveTimes::ChoosePointToPoint(
    size_t group) const {
  constexpr uint32_t kPointToPointChannels = 32;
  const GroupHardware& hardware = tuning(group).hardware;
  const uint32_t channels =
      options_.max_channels == 0
          ? kPointToPointChannels
          : std::min(kPointToPointChannels, options_.max_channels);
  const bool by_rail = IsAllToAll(kind_) && options_.pxn &&
                       hardware.num_servers > 1 &&
                       hardware.ranks_per_server > 1;
  return Chosen{.channels = channels,
                .latency_us = PointToPointUs(PointToPoint(hardware), hardware,
                                             ExtraOf(std::nullopt, group)),
                .registry_name = by_rail ? "pxn" : "direct"};
}

// A chunk goes round the ring once, twice in an all-reduce, but for as many
// hops, which are within servers if they can be. NCCL's latency leaves out hops
// between servers, and its constants make up for it on links as long as they
// contain.
double CollectiveTimes::LastCrossingsUs(size_t group) const {
  const GroupHardware& hardware = tuning(group).hardware;
  uint32_t rounds = 0;
  if (kind_ == CollectiveKind::kAllReduce) rounds = 2;
  if (kind_ == CollectiveKind::kAllGather ||
      kind_ == CollectiveKind::kReduceScatter) {
    rounds = 1;
  }
  if (hardware.num_servers == 1) return 0;
  return std::min(rounds, hardware.ranks_per_server - 1) *
         std::max(0.0, ExtraOf(NcclAlgorithm::kRing, group).between_us);
}

absl::StatusOr<CollectiveTimes::Chosen> CollectiveTimes::ChooseFor(
    size_t group, Bytes bytes) const {
  const TuningTable& table = tuning(group);
  const GroupHardware& hardware = table.hardware;
  if (options_.dispatch && IsOfExperts(kind_)) return ChooseDispatcher(group);
  if (IsSendsAndReceives(kind_)) return ChoosePointToPoint(group);
  if (IsOfEngine(hardware)) {
    const EngineKernel* const kernel = options_.engine->KernelFor(
        system_.interconnect.name, hardware.num_ranks, bytes);
    if (kernel != nullptr) {
      return Chosen{.latency_us = kernel->StartUs(hardware.num_ranks),
                    .registry_name = RegistryName(kernel->algorithm),
                    .kernel = kernel};
    }
  }
  ASTRA_ASSIGN_OR_RETURN(const size_t winner, Choose(table, bytes));
  const TuningCandidate& candidate = table.candidates[winner];
  // Data of a broadcast or a reduction passes through all ranks, although
  // NCCL's latency ignores it.
  const bool is_chain =
      kind_ == CollectiveKind::kBroadcast || kind_ == CollectiveKind::kReduce;
  Chosen chosen = {
      .algorithm = candidate.algorithm,
      .protocol = candidate.protocol,
      .channels = candidate.channels,
      .latency_us =
          LatencyUs(candidate.algorithm, candidate.protocol,
                    is_chain ? CollectiveKind::kAllGather : kind_, hardware,
                    ExtraOf(candidate.algorithm, group),
                    ScaleOf(candidate.algorithm, candidate.protocol, hardware)),
      .registry_name = RegistryName(candidate.algorithm)};
  if (candidate.algorithm == NcclAlgorithm::kRing) {
    chosen.latency_us += LastCrossingsUs(group);
  }
  const bool is_ring_of_steps = kind_ == CollectiveKind::kAllReduce ||
                                kind_ == CollectiveKind::kAllGather ||
                                kind_ == CollectiveKind::kReduceScatter;
  if (options_.cross_nic == 1 && is_ring_of_steps &&
      chosen.algorithm == NcclAlgorithm::kRing) {
    // Its rings leave a server on another rail than the one on which they came.
    chosen.registry_name = "simai_ring";
  }
  return chosen;
}

double CollectiveTimes::CopyPsPerByte(const Chosen& chosen,
                                      const GroupHardware& hardware) const {
  double copy = IsOfEngine(hardware)
                    ? EngineCopyPsPerByte(system_.interconnect, options_.launch)
                    : 0;
  if (chosen.algorithm == NcclAlgorithm::kRing && !IsSymmetric()) {
    copy +=
        kPsPerByteAndGBps / hardware.num_ranks / system_.interconnect.copy_GBps;
  }
  return copy;
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
}

Pace CollectiveTimes::PaceWithin(const Chosen& chosen) const {
  if (chosen.kernel != nullptr) {
    return {.efficiency = chosen.kernel->efficiency};
  }
  if (chosen.work) {
    return {.efficiency = options_.dispatch->dispatcher.of(kind_).efficiency};
  }
  if (IsSymmetric()) return system_.interconnect.paces.symmetric;
  return PaceOf(system_.interconnect.paces, kind_, chosen.algorithm);
}

Pace CollectiveTimes::PaceBetween(const Chosen& chosen) const {
  // NICs reach for a dispatcher what they reach for NCCL's rings.
  if (chosen.work) return system_.transport.paces.of(NcclAlgorithm::kRing);
  return PaceOf(system_.transport.paces, kind_, chosen.algorithm);
}

SizedTime CollectiveTimes::SizedTimeOf(const Chosen& chosen, size_t group,
                                       const ClosedForm& form) const {
  const GroupHardware& hardware = tuning(group).hardware;
  if (chosen.kernel != nullptr) {
    SizedTime time =
        EngineTime(*chosen.kernel, hardware.num_ranks, form.ps_per_byte);
    time.launch_us = LaunchUs(chosen, hardware);
    time.copy_ps_per_byte = CopyPsPerByte(chosen, hardware);
    return time;
  }
  if (chosen.work) return DispatcherTime(chosen, form);
  const bool is_one_server = hardware.num_servers == 1;
  const bool is_symmetric = IsSymmetric();
  const Pace pace = is_one_server ? PaceWithin(chosen) : PaceBetween(chosen);
  const bool is_tree = chosen.algorithm == NcclAlgorithm::kTree ||
                       chosen.algorithm == NcclAlgorithm::kNvlsTree;
  const double levels =
      is_tree && !is_one_server ? std::log2(hardware.num_servers) : 1;
  SizedTime time;
  time.launch_us = LaunchUs(chosen, hardware);
  time.latency_us =
      is_symmetric ? system_.interconnect.symmetric_us : chosen.latency_us;
  const ProtocolLatency& latency =
      LatencyOf(chosen.algorithm, chosen.protocol, hardware);
  if (!is_symmetric) time.spread_us = latency.spread * time.latency_us;
  time.spread_bytes = latency.spread_KiB * kBytesPerKiB;
  time.ps_per_byte = form.ps_per_byte;
  if (!is_symmetric) time.ps_per_byte *= WireShare(chosen.protocol);
  if (!is_symmetric) AddKernelLimits(chosen, hardware, &time);
  time.copy_ps_per_byte = CopyPsPerByte(chosen, hardware);
  time.ramp_us = pace.ramp_us * levels;
  time.ramp_bytes = pace.ramp_MiB * kBytesPerMiB;
  return time;
}

absl::StatusOr<TimedCollective> CollectiveTimes::ModelTime(size_t group,
                                                           Bytes bytes) {
  ASTRA_ASSIGN_OR_RETURN(const Chosen chosen, ChooseFor(group, bytes));
  ASTRA_ASSIGN_OR_RETURN(const ClosedForms* forms,
                         FormsOf(group, chosen, bytes));
  const ClosedForms::Group& form = forms->groups[group];
  const SizedTime sized = SizedTimeOf(chosen, group, form.form);
  TimedCollective result;
  result.algorithm = chosen.algorithm ? Name(*chosen.algorithm) : "P2P";
  result.protocol = Name(chosen.protocol);
  result.channels = chosen.channels;
  if (chosen.kernel != nullptr) {
    result.algorithm = Name(chosen.kernel->algorithm);
    result.protocol = "-";
  }
  if (chosen.work) {
    result.algorithm = "Dispatcher";
    result.protocol = "-";
  }
  if (IsSymmetric()) {
    result.algorithm = "Symmetric";
    result.protocol = Name(NcclProtocol::kSimple);
  }
  result.time = sized.TimeOf(bytes);
  result.transfer =
      ShareOf(std::min(1.0, sized.WireUs(bytes) / ToMicroseconds(result.time)),
              result.time);
  const double wire_ps = (sized.ps_per_byte + sized.copy_ps_per_byte) *
                         static_cast<double>(bytes.count());
  result.is_latency_bound =
      2 * wire_ps < static_cast<double>(result.time.count());
  result.bottleneck = form.bottleneck;
  result.registry_name = chosen.registry_name;
  return result;
}

const MeasuredCurve* CollectiveTimes::CurveOf(size_t group, Bytes bytes) const {
  if (options_.measured == nullptr) return nullptr;
  const GroupHardware& hardware = tuning(group).hardware;
  const uint32_t servers = hardware.num_servers;
  const uint32_t per_server = hardware.num_ranks / servers;
  const absl::StatusOr<Chosen> chosen = ChooseFor(group, bytes);
  if (servers * per_server != hardware.num_ranks ||
      per_server != hardware.ranks_per_server ||
      (chosen.ok() && (chosen->kernel != nullptr || chosen->work))) {
    return nullptr;
  }
  return FindCurve(*options_.measured, {kind_, servers, per_server});
}

absl::StatusOr<TimedCollective> CollectiveTimes::Time(size_t group,
                                                      Bytes bytes) {
  ASTRA_ASSIGN_OR_RETURN(TimedCollective timed, ModelTime(group, bytes));
  const MeasuredCurve* const curve = CurveOf(group, bytes);
  if (curve == nullptr) return timed;
  ASTRA_ASSIGN_OR_RETURN(
      const SourcedTime measured,
      MeasuredTimeOf(*curve, bytes, [&](Bytes size) -> absl::StatusOr<double> {
        ASTRA_ASSIGN_OR_RETURN(const TimedCollective model,
                               ModelTime(group, size));
        return ToMicroseconds(model.time);
      }));
  return AsMeasured(measured, timed);
}

absl::StatusOr<std::vector<uint32_t>> CollectiveTimes::Classify(
    absl::Span<const Bytes> sizes) {
  // The first group of each table chooses as all of its groups do.
  for (const size_t group : first_group_) {
    for (const Bytes bytes : sizes) {
      ASTRA_RETURN_IF_ERROR(Time(group, bytes).status());
    }
  }
  using Key = std::tuple<uint32_t, Propagation, std::vector<ClosedForm>>;
  std::map<Key, uint32_t> ids;
  std::vector<uint32_t> classes;
  for (size_t group = 0; group < groups_.size(); ++group) {
    Key key = {table_of_group_[group], propagation_[group], {}};
    for (const auto& [_, forms] : forms_) {
      std::get<2>(key).push_back(forms.groups[group].form);
    }
    const auto next = static_cast<uint32_t>(ids.size());
    classes.push_back(ids.try_emplace(std::move(key), next).first->second);
  }
  return classes;
}

}  // namespace astra
