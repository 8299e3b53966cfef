#include "network-frontends/packet/packet_options.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "network-frontends/packet/congestion/registry.h"

namespace astra {
namespace {

// Returns an error about the field with which the text begins: "nic: payload
// ...".
absl::Status Wrong(std::string_view what) {
  std::string path;
  std::string_view rest = what;
  for (size_t end = rest.find_first_of(" :"); end < rest.size();
       end = rest.find_first_of(" :")) {
    const bool is_last = rest[end] == ' ';
    path += path.empty() ? "" : ".";
    path += rest.substr(0, end);
    if (is_last) break;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return FieldError(path, what);
}

// Changes the field of `error` to number `item` of the list that it begins
// with.
absl::Status WrongItem(size_t item, const absl::Status& error) {
  if (error.ok()) return error;
  std::string path = FieldOf(error);
  const size_t end = std::min(path.find('.'), path.size());
  path.insert(end, fmt::format(".{}", item));
  return FieldError(path, std::string(error.message()));
}

absl::Status CheckNode(std::string_view key, NodeId node,
                       const Topology& topology) {
  if (node.index() < topology.num_nodes()) return absl::OkStatus();
  return Wrong(fmt::format("{} is node {}: the topology has 0 to {}", key, node,
                           topology.num_nodes() - 1));
}

absl::Status CheckNic(const NicOptions& nic) {
  // Packets keep their size in 16 bits, and telemetry needs up to 512 bytes.
  constexpr int64_t kMostBytes = std::numeric_limits<uint16_t>::max() - 512;
  if (nic.payload < Bytes(1) || nic.header < Bytes(0) || nic.ack < Bytes(1)) {
    return Wrong("nic: payload and ack must be 1B or more, header 0B or more");
  }
  if ((nic.payload + nic.header).count() > kMostBytes ||
      nic.ack.count() > kMostBytes) {
    return Wrong(fmt::format(
        "nic: payload and header are {} B, ack {} B: expected up to {}",
        (nic.payload + nic.header).count(), nic.ack.count(), kMostBytes));
  }
  if (nic.packets_per_ack < 1) {
    return Wrong("nic: packets_per_ack is 0: expected 1 or more");
  }
  if (nic.retransmission_timeout < TimePs(1)) {
    return Wrong("nic: retransmission_timeout must be longer than 0s");
  }
  return absl::OkStatus();
}

// Times are cut off to whole steps of the resolution. Less than one step would
// be no time at all.
absl::Status CheckResolution(const PacketOptions& options,
                             const Topology& topology) {
  if (options.time_resolution < TimePs(1)) {
    return Wrong("time_resolution must be 1ps or more");
  }
  Bandwidth fastest;
  for (const LinkType& type : topology.link_types()) {
    fastest = std::max(fastest, type.bandwidth);
  }
  if (fastest == Bandwidth(0)) return absl::OkStatus();
  const Bytes packet = options.nic.payload + options.nic.header;
  const TimePs time = TransferTime(packet, fastest);
  if (options.time_resolution <= time) return absl::OkStatus();
  constexpr double kNsPerUs = 1e3;
  constexpr double kGbps = 1e-9;
  return Wrong(fmt::format(
      "time_resolution is {:g} ns, but a full packet of {} B takes {:g} ns on "
      "the fastest link, at {:g} Gbps: expected no more than that",
      kNsPerUs * ToMicroseconds(options.time_resolution), packet.count(),
      kNsPerUs * ToMicroseconds(time),
      kGbps * static_cast<double>(fastest.count())));
}

absl::Status CheckSwitch(std::string_view key, const SwitchOptions& options) {
  if (options.buffer_share <= 0) {
    return Wrong(fmt::format("{}: buffer_share must be above 0", key));
  }
  for (size_t i = 0; i < options.ecn_thresholds.size(); ++i) {
    const EcnThresholds& thresholds = options.ecn_thresholds[i];
    const auto path = [&](std::string_view field) {
      return fmt::format("{}.ecn_thresholds.{}.{}", key, i, field);
    };
    if (thresholds.rate <= Bandwidth(0)) {
      return FieldError(
          path("rate"),
          fmt::format("{}: ecn_thresholds: rate must be above 0", key));
    }
    if (thresholds.min_queue > thresholds.max_queue) {
      return FieldError(
          path("min_queue"),
          fmt::format("{}: ecn_thresholds: min_queue {} is above max_queue {}",
                      key, thresholds.min_queue, thresholds.max_queue));
    }
  }
  return absl::OkStatus();
}

// Checks what the controls need in order to work at all; see congestion/NAME.h.
absl::Status CheckCongestion(const CongestionOptions& options) {
  absl::Status status = FindCongestionControl(options.name).status();
  CongestionOptions::ForEach([&]<class Control>() {
    const std::string_view why = Control::WhyWrong(options.of<Control>());
    if (!status.ok() || why.empty()) return;
    status = Wrong(fmt::format("congestion: {}: {}", Control::kName, why));
  });
  return status;
}

absl::Status CheckLinkEvent(const LinkEvent& event, const Topology& topology) {
  ASTRA_RETURN_IF_ERROR(CheckNode("link_events: a", event.a, topology));
  ASTRA_RETURN_IF_ERROR(CheckNode("link_events: b", event.b, topology));
  if (event.rate_factor < 0) {
    return Wrong("link_events: rate_factor must be 0 or more");
  }
  const absl::Span<const LinkId> links = topology.links_from(event.a);
  const bool is_linked = std::any_of(
      links.begin(), links.end(),
      [&](LinkId link) { return topology.link(link).target == event.b; });
  if (is_linked) return absl::OkStatus();
  return Wrong(fmt::format("link_events: no cable connects {} and {}",
                           topology.NodeName(event.a),
                           topology.NodeName(event.b)));
}

absl::Status CheckBackground(const BackgroundTraffic& traffic,
                             const Topology& topology) {
  ASTRA_RETURN_IF_ERROR(
      CheckNode("background: source", traffic.source, topology));
  ASTRA_RETURN_IF_ERROR(
      CheckNode("background: target", traffic.target, topology));
  if (traffic.source == traffic.target) {
    return Wrong(fmt::format("background: source and target are both node {}",
                             traffic.source));
  }
  if (traffic.interval < TimePs(1)) {
    return Wrong("background: interval must be longer than 0s");
  }
  if (traffic.stop == TimePs()) {
    return Wrong("background needs stop, a time after start");
  }
  if (traffic.stop <= traffic.start) {
    return Wrong("background: stop must be after start");
  }
  return absl::OkStatus();
}

}  // namespace

PacketOptions DefaultNetwork() {
  PacketOptions options;
  options.record.flows_file = FlowsFile::kAuto;
  options.record.pfc = true;
  options.record.cnp = true;
  return options;
}

absl::Status CheckPacketOptions(const PacketOptions& options,
                                const Topology& topology) {
  ASTRA_RETURN_IF_ERROR(CheckNic(options.nic));
  ASTRA_RETURN_IF_ERROR(CheckResolution(options, topology));
  ASTRA_RETURN_IF_ERROR(CheckSwitch("fabric", options.fabric));
  ASTRA_RETURN_IF_ERROR(CheckSwitch("nv_switch", options.nv_switch));
  ASTRA_RETURN_IF_ERROR(CheckCongestion(options.congestion));
  const bool overtakes = options.load_balancing == LoadBalancing::kSpray ||
                         options.load_balancing == LoadBalancing::kAdaptive;
  if (overtakes &&
      options.nic.loss_recovery != LossRecovery::kSelectiveRepeat) {
    return Wrong(
        "load_balancing lets packets overtake one another, which go-back-n "
        "takes for loss: set nic: loss_recovery: selective-repeat");
  }
  for (size_t i = 0; i < options.link_events.size(); ++i) {
    ASTRA_RETURN_IF_ERROR(
        WrongItem(i, CheckLinkEvent(options.link_events[i], topology)));
  }
  for (size_t i = 0; i < options.background.size(); ++i) {
    ASTRA_RETURN_IF_ERROR(
        WrongItem(i, CheckBackground(options.background[i], topology)));
  }
  return absl::OkStatus();
}

}  // namespace astra
