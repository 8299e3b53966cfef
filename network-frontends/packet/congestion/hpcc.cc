#include "network-frontends/packet/congestion/hpcc.h"

#include <algorithm>

#include "astra-core/base/check.h"
#include "network-frontends/packet/congestion/sending.h"

namespace astra {
namespace {

// Returns the utilization of a port between two packets, for a round trip
// `rtt`.
double PortUtilization(const HopTelemetry& before, const HopTelemetry& now,
                       TimePs rtt) {
  const double rate = ToDouble(now.rate);
  const auto queued =
      static_cast<double>(std::min(now.queued_bytes, before.queued_bytes));
  const auto sent = static_cast<double>(now.sent_bytes - before.sent_bytes);
  const double could = BytesIn(rate, now.time - before.time);
  return queued / BytesIn(rate, rtt) + Within(sent / could, 0, 1);
}

}  // namespace

std::string_view Hpcc::WhyWrong(const Options& options) {
  if (options.target_utilization <= 0)
    return "target_utilization must be above 0";
  if (options.min_rate <= Bandwidth(0)) return "min_rate must be above 0";
  return {};
}

Hpcc::Hpcc(const HpccOptions& options) : options_(options) {
  ASTRA_CHECK(options.target_utilization > 0, "target utilization is 0");
}

int64_t Hpcc::header_bytes(uint32_t num_hops) const {
  return 2 + 8 * int64_t{num_hops};
}

void Hpcc::Open(QueuePairId qp, const PathProperties& path, TimePs /*now*/,
                SendingLimits* limits) {
  State previous;
  if (qp.index() < states_.size()) previous = states_[qp.index()];
  State& state = OpenState(qp, path, states_);
  state.first_hop = previous.first_hop;
  state.hops_room = previous.hops_room;
  state.rtt = path.network_rtt;
  state.max_window = BytesIn(ToDouble(path.line_rate), state.rtt);
  state.reference_window = state.max_window;
  state.packet_bytes = static_cast<uint32_t>(path.packet_bytes);
  limits->rate = path.line_rate;
  limits->window_bytes = ToWindow(state.max_window, path.packet_bytes);
  limits->timer = kNoTimer;
}

void Hpcc::OnAck(QueuePairId qp, const Acknowledgement& ack,
                 SendingLimits* limits) {
  const std::optional<double> utilization = Measure(qp, ack);
  if (utilization.has_value()) React(qp, ack, *utilization, limits);
}

std::optional<double> Hpcc::Measure(QueuePairId qp,
                                    const Acknowledgement& ack) {
  State& state = states_[qp.index()];
  if (ack.hops.empty()) return std::nullopt;
  if (ack.hops.size() != state.num_hops) {
    Remember(ack.hops, state);
    state.update_after = EndOfRoundTrip(ack);
    return std::nullopt;
  }
  double most = -1;
  TimePs over;
  for (uint32_t i = 0; i < state.num_hops; ++i) {
    const HopTelemetry& now = ack.hops[i];
    const HopTelemetry& before = hops_[state.first_hop + i];
    if (now.time <= before.time) continue;
    const double utilization = PortUtilization(before, now, state.rtt);
    if (utilization <= most) continue;
    most = utilization;
    over = std::min(now.time - before.time, state.rtt);
  }
  Remember(ack.hops, state);
  if (most < 0) return std::nullopt;
  const double weight = ToDouble(over) / ToDouble(state.rtt);
  state.utilization += weight * (most - state.utilization);
  return state.utilization;
}

void Hpcc::React(QueuePairId qp, const Acknowledgement& ack, double utilization,
                 SendingLimits* limits) {
  State& state = states_[qp.index()];
  if (state.update_after == 0) {
    state.update_after = EndOfRoundTrip(ack);
    return;
  }
  const bool is_new_round = ack.acked_total_bytes > state.update_after;
  if (!is_new_round && !options_.fast_react) return;

  // On an idle path any window is allowed, but it must be finite.
  constexpr double kLeast = 1e-6;
  const double excess =
      std::max(utilization / options_.target_utilization, kLeast);
  const bool is_full = excess >= 1 || state.stage >= options_.max_stages;
  const double increase =
      BytesIn(ToDouble(options_.additive_increase), state.rtt);
  const double min_window = BytesIn(ToDouble(options_.min_rate), state.rtt);
  const double window =
      Within(state.reference_window / (is_full ? excess : 1) + increase,
             min_window, state.max_window);
  if (is_new_round) {
    state.reference_window = window;
    state.stage = is_full ? 0 : state.stage + 1;
    state.update_after = EndOfRoundTrip(ack);
  }
  limits->window_bytes = ToWindow(window, state.packet_bytes);
  limits->rate = ToBandwidth(RateOf(window, state.rtt));
}

void Hpcc::Remember(absl::Span<const HopTelemetry> hops, State& state) {
  state.num_hops = static_cast<uint32_t>(hops.size());
  if (state.num_hops > state.hops_room) {
    state.first_hop = static_cast<uint32_t>(hops_.size());
    state.hops_room = state.num_hops;
    hops_.resize(hops_.size() + hops.size());
  }
  std::copy(hops.begin(), hops.end(), hops_.begin() + state.first_hop);
}

}  // namespace astra
