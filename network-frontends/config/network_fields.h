// Lists the fields of a network file once, for both reading and writing.
//
// A Visitor has a function for each sort of field: Time, Size, Rate, Number,
// Integer, Bool, Choice, Id, Map, List and so on. Each takes the key and the
// value; those for numbers also take the limits.

#ifndef NETWORK_FRONTENDS_CONFIG_NETWORK_FIELDS_H_
#define NETWORK_FRONTENDS_CONFIG_NETWORK_FIELDS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "network-frontends/packet/congestion/registry.h"
#include "network-frontends/packet/packet_options.h"

namespace astra {

// Names of the enumerators, in the order of the enumerations.
inline constexpr std::array<std::string_view, 2> kSwitchings = {
    "store-and-forward", "cut-through"};
inline constexpr std::array<std::string_view, 4> kLoadBalancings = {
    "ecmp", "flowlet", "spray", "adaptive"};
inline constexpr std::array<std::string_view, 2> kEcmpHashes = {"mixed",
                                                                "simai"};
inline constexpr std::array<std::string_view, 2> kLossRecoveries = {
    "go-back-n", "selective-repeat"};
inline constexpr std::array<std::string_view, 2> kQueuePairs = {
    "per-connection", "per-message"};
inline constexpr std::array<std::string_view, 2> kCompletions = {
    "delivered", "acknowledged"};
inline constexpr std::array<std::string_view, 3> kWindowScopes = {
    "none", "path", "network"};
inline constexpr std::array<std::string_view, 4> kFlowsFiles = {
    "auto", "each", "summary", "false"};

// Limits far beyond any real network, narrow enough that nothing overflows;
// congestion_control.h has those of factors and packets.
inline constexpr int64_t kMostRecords = int64_t{1} << 40;
inline constexpr int64_t kMostPayload = 65'536;

// The fields of each congestion control are in its header.
template <class Visitor>
void Visit(CongestionOptions& o, Visitor& v) {
  v.CongestionControl("name", o.name);
  CongestionOptions::ForEach([&]<class Control>() {
    if constexpr (!std::is_empty_v<typename Control::Options>) {
      v.Map(Control::kName, o.of<Control>());
    }
  });
}

template <class Visitor>
void Visit(EcnThresholds& o, Visitor& v) {
  v.Rate("rate", o.rate);
  v.Size("min_queue", o.min_queue, 0);
  v.Size("max_queue", o.max_queue, 0);
  v.Number("max_probability", o.max_probability, 0, 1);
}

template <class Visitor>
void Visit(NicOptions& o, Visitor& v) {
  v.Size("payload", o.payload, 1, kMostPayload);
  v.Size("header", o.header, 0, kMostPayload);
  v.Size("ack", o.ack, 1, kMostPayload);
  v.Integer("packets_per_ack", o.packets_per_ack, 1, kMostPackets);
  v.Bool("ack_has_priority", o.ack_has_priority);
  v.Choice("window", o.window, kWindowScopes);
  v.Number("window_factor", o.window_factor, 0, kMostTimes);
  v.Bool("window_follows_rate", o.window_follows_rate);
  v.Bool("pace_follows_rate", o.pace_follows_rate);
  v.Choice("queue_pairs", o.queue_pairs, kQueuePairs);
  v.Choice("completion", o.completion, kCompletions);
  v.Choice("loss_recovery", o.loss_recovery, kLossRecoveries);
  v.Time("retransmission_timeout", o.retransmission_timeout);
  v.Integer("retries", o.retries, 0, 255);
  v.Time("nack_interval", o.nack_interval);
  v.Integer("reorder_packets", o.reorder_packets, 1, kMostPackets);
}

template <class Visitor>
void Visit(SwitchOptions& o, Visitor& v) {
  v.Choice("switching", o.switching, kSwitchings);
  v.Time("latency", o.latency);
  v.Size("buffer", o.buffer, 0);
  v.Number("buffer_share", o.buffer_share, 0, kMostTimes);
  v.Size("reserve", o.reserve, 0);
  v.Size("resume_offset", o.resume_offset, 0);
  v.Number("headroom_factor", o.headroom_factor, 0, kMostTimes);
  v.Size("headroom_extra", o.headroom_extra, 0);
  v.Bool("pfc", o.pfc);
  v.Bool("ecn", o.ecn);
  v.List("ecn_thresholds", o.ecn_thresholds);
}

template <class Visitor>
void Visit(BackgroundTraffic& o, Visitor& v) {
  v.Id("source", o.source);
  v.Id("target", o.target);
  v.Size("bytes", o.bytes, 0);
  v.Time("interval", o.interval);
  v.Time("start", o.start);
  v.Time("stop", o.stop);
}

template <class Visitor>
void Visit(RecordOptions& o, Visitor& v) {
  v.Choice("flows", o.flows_file, kFlowsFiles);
  v.Bool("pfc", o.pfc);
  v.Bool("cnp", o.cnp);
  v.OptionalTime("sample_interval", o.sample_interval);
  v.Time("sample_start", o.sample_start);
  v.OptionalId("captured_link", o.captured_link);
  v.Integer("max_records", o.max_records, 0, kMostRecords);
}

template <class Visitor>
void Visit(PacketOptions& o, Visitor& v) {
  v.Map("nic", o.nic);
  v.Map("fabric", o.fabric);
  v.Inherit(o.fabric, o.nv_switch);
  v.Map("nv_switch", o.nv_switch);
  v.Choice("load_balancing", o.load_balancing, kLoadBalancings);
  v.Choice("ecmp_hash", o.ecmp_hash, kEcmpHashes);
  v.Time("flowlet_gap", o.flowlet_gap);
  v.Number("error_rate", o.error_rate, 0, 1);
  v.Time("time_resolution", o.time_resolution);
  v.Map("congestion", o.congestion);
  v.List("background", o.background);
  v.Integer("seed", o.seed, 0, std::numeric_limits<int64_t>::max());
  v.Map("record", o.record);
}

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_NETWORK_FIELDS_H_
