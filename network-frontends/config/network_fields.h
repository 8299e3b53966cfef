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

// Limits far beyond any real network, narrow enough that nothing overflows.
inline constexpr double kMostTimes = 1e6;  // Limit of a factor.
inline constexpr int64_t kMostPackets = 1'000'000;
inline constexpr int64_t kMostRecords = int64_t{1} << 40;
inline constexpr int64_t kMostPayload = 65'536;

template <class Visitor>
void Visit(DcqcnOptions& o, Visitor& v) {
  v.Time("alpha_interval", o.alpha_interval);
  v.Time("decrease_interval", o.decrease_interval);
  v.Time("increase_interval", o.increase_interval);
  v.Number("gain", o.gain, 0, 1);
  v.Integer("fast_recovery_steps", o.fast_recovery_steps, 0, kMostPackets);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("hyper_increase", o.hyper_increase);
  v.Rate("min_rate", o.min_rate);
  v.Bool("clamp_target_rate", o.clamp_target_rate);
}

template <class Visitor>
void Visit(HpccOptions& o, Visitor& v) {
  v.Number("target_utilization", o.target_utilization, 0, 1);
  v.Integer("max_stages", o.max_stages, 0, kMostPackets);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("min_rate", o.min_rate);
  v.Bool("fast_react", o.fast_react);
}

template <class Visitor>
void Visit(HpccPintOptions& o, Visitor& v) {
  v.Map("hpcc", o.hpcc);
  v.Number("log_base", o.log_base, 1, kMostTimes);
  v.Number("sampling_share", o.sampling_share, 0, 1);
}

template <class Visitor>
void Visit(TimelyOptions& o, Visitor& v) {
  v.Number("ewma_weight", o.ewma_weight, 0, 1);
  v.Number("decrease_factor", o.decrease_factor, 0, 1);
  v.Time("least_rtt", o.least_rtt);
  v.Time("low_threshold", o.low_threshold);
  v.Time("high_threshold", o.high_threshold);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("hyper_increase", o.hyper_increase);
  v.Rate("min_rate", o.min_rate);
  v.Integer("hyper_steps", o.hyper_steps, 0, kMostPackets);
}

template <class Visitor>
void Visit(DctcpOptions& o, Visitor& v) {
  v.Number("gain", o.gain, 0, 1);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("min_rate", o.min_rate);
}

template <class Visitor>
void Visit(SwiftOptions& o, Visitor& v) {
  v.Time("base_target", o.base_target);
  v.Time("per_hop", o.per_hop);
  v.Number("additive_increase", o.additive_increase, 0, kMostTimes);
  v.Number("decrease_factor", o.decrease_factor, 0, 1);
  v.Number("max_decrease", o.max_decrease, 0, 1);
  v.Number("flow_scaling_range", o.flow_scaling_range, 0, kMostTimes);
  v.Number("min_window", o.min_window, 0, kMostTimes);
  v.Number("max_window", o.max_window, 0, kMostTimes);
  v.Rate("min_rate", o.min_rate);
}

template <class Visitor>
void Visit(UecOptions& o, Visitor& v) {
  v.Number("max_window_share", o.max_window_share, 0, kMostTimes);
  v.Number("target_delay_share", o.target_delay_share, 0, kMostTimes);
  v.Number("proportional_gain", o.proportional_gain, 0, kMostTimes);
  v.Number("fair_increase", o.fair_increase, 0, kMostTimes);
  v.Number("fast_increase", o.fast_increase, 0, kMostTimes);
  v.Number("periodic_increase", o.periodic_increase, 0, kMostTimes);
  v.Number("decrease_gain", o.decrease_gain, 0, 1);
  v.Number("max_decrease", o.max_decrease, 0, 1);
  v.Integer("adjust_packets", o.adjust_packets, 1, kMostPackets);
  v.Number("quick_adapt_delay", o.quick_adapt_delay, 0, kMostTimes);
  v.Number("quick_adapt_below", o.quick_adapt_below, 0, 1);
  v.Number("quick_adapt_share", o.quick_adapt_share, 0, 1);
}

template <class Visitor>
void Visit(CongestionOptions& o, Visitor& v) {
  v.CongestionControl("name", o.name);
  v.Map("dcqcn", o.dcqcn);
  v.Map("hpcc", o.hpcc);
  v.Map("hpcc_pint", o.hpcc_pint);
  v.Map("timely", o.timely);
  v.Map("dctcp", o.dctcp);
  v.Map("swift", o.swift);
  v.Map("uec", o.uec);
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
void Visit(LinkEvent& o, Visitor& v) {
  v.Time("time", o.time);
  v.Id("a", o.a);
  v.Id("b", o.b);
  v.Number("rate_factor", o.rate_factor, 0, kMostTimes);
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
  v.OptionalBool("flows", o.flows);
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
  v.List("link_events", o.link_events);
  v.List("background", o.background);
  v.Integer("seed", o.seed, 0, std::numeric_limits<int64_t>::max());
  v.Map("record", o.record);
}

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_NETWORK_FIELDS_H_
