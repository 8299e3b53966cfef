#include "network-frontends/packet/congestion/swift.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/check.h"
#include "network-frontends/packet/congestion/sending.h"

namespace astra {

std::string_view Swift::WhyWrong(const Options& options) {
  if (options.min_window <= 0) return "min_window must be above 0";
  if (options.min_rate <= Bandwidth(0)) return "min_rate must be above 0";
  if (options.min_window >= options.max_window) {
    return "min_window must be below max_window";
  }
  return {};
}

Swift::Swift(const SwiftOptions& options) : options_(options) {
  ASTRA_CHECK(0 < options.min_window && options.min_window < options.max_window,
              "windows {} and {}", options.min_window, options.max_window);
  const double root = std::sqrt(options.max_window);
  scaling_range_ = options.flow_scaling_range * ToDouble(options.base_target);
  scaling_slope_ =
      scaling_range_ / (1 / std::sqrt(options.min_window) - 1 / root);
  scaling_offset_ = -scaling_slope_ / root;
}

int64_t Swift::header_bytes(uint32_t /*num_hops*/) const { return 8; }

void Swift::Open(QueuePairId qp, const PathProperties& path, TimePs now,
                 SendingLimits* limits) {
  State& state = OpenState(qp, path, states_);
  const auto packet = static_cast<double>(path.packet_bytes);
  const double line_rate = ToDouble(path.line_rate);
  const TimePs target = path.base_rtt + options_.base_target +
                        int64_t{path.num_hops} * options_.per_hop;
  state.window = BytesIn(line_rate, path.base_rtt) / packet;
  state.min_window =
      BytesIn(std::min(ToDouble(options_.min_rate), line_rate), path.base_rtt) /
      packet;
  state.max_window = BytesIn(line_rate, target) / packet;
  state.target = ToDouble(target);
  state.last_rtt = path.base_rtt;
  state.last_decrease = now - path.base_rtt;
  state.line_rate = path.line_rate;
  state.packet_bytes = static_cast<uint32_t>(path.packet_bytes);
  SetLimits(state, limits);
  limits->timer = kNoTimer;
}

void Swift::OnAck(QueuePairId qp, const Acknowledgement& ack,
                  SendingLimits* limits) {
  State& state = states_[qp.index()];
  state.num_timeouts = 0;
  state.last_rtt = std::max(ack.rtt, TimePs(1));
  const double rtt = ToDouble(state.last_rtt);
  const double target = state.target + FlowScaling(state.window);
  if (rtt < target) {
    const double packets = static_cast<double>(ack.acked_bytes) /
                           static_cast<double>(state.packet_bytes);
    state.window +=
        options_.additive_increase * packets / std::max(state.window, 1.0);
  } else {
    const double factor = 1 - options_.decrease_factor * (rtt - target) / rtt;
    Decrease(std::max(factor, 1 - options_.max_decrease), ack.now, state);
  }
  SetLimits(state, limits);
}

void Swift::OnLoss(QueuePairId qp, TimePs now, bool is_timeout,
                   SendingLimits* limits) {
  constexpr uint32_t kMostTimeouts = 5;
  State& state = states_[qp.index()];
  if (is_timeout && ++state.num_timeouts >= kMostTimeouts) {
    state.window = state.min_window;
  } else {
    Decrease(1 - options_.max_decrease, now, state);
  }
  SetLimits(state, limits);
}

double Swift::FlowScaling(double window) const {
  return Within(scaling_slope_ / std::sqrt(window) + scaling_offset_, 0,
                scaling_range_);
}

void Swift::Decrease(double factor, TimePs now, State& state) {
  if (now - state.last_decrease < state.last_rtt) return;
  state.window *= factor;
  state.last_decrease = now;
}

void Swift::SetLimits(State& state, SendingLimits* limits) const {
  state.window = Within(state.window, state.min_window, state.max_window);
  const double bytes = state.window * state.packet_bytes;
  limits->window_bytes = ToWindow(bytes, state.packet_bytes);
  limits->rate = state.line_rate;
  if (state.window >= 1) return;
  limits->rate = ToBandwidth(Within(RateOf(bytes, state.last_rtt),
                                    ToDouble(options_.min_rate),
                                    ToDouble(state.line_rate)));
}

}  // namespace astra
